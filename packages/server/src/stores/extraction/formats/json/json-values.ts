import { cutName } from '../../cut-text.ts';
import { fileDamaged } from '../../extraction-error.ts';

/** A simple value of a JSON text, in the order of the text. */
export interface JsonValue {
  /** The names and indexes from the root to the value. It is valid until the next value. */
  readonly path: readonly (string | number)[];
  /** As written, but strings without quotes and escapes. Empty objects and arrays are `{}` and `[]`. */
  readonly text: string;
}

/** Programs do not write values that are nested deeper. */
export const deepestJson = 500;

const blank = /[ \t\r\n]*/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Reads the simple values of a JSON text one by one, in linear time and without a tree. Numbers keep all their digits
 * and repeated names all their values, which `JSON.parse` would lose. Long names are cut, because each path repeats them.
 * @param onCut called for each name that is cut
 * @throws ExtractionError when it is no JSON or is nested too deep
 */
export function* readJsonValues(text: string, onCut: () => void = () => {}): Generator<JsonValue> {
  const path: (string | number)[] = [];
  let at = 0;
  const skip = () => {
    blank.lastIndex = at;
    blank.test(text);
    at = blank.lastIndex;
  };
  const damaged = () => fileDamaged('JSON', `its text is invalid at ${describePosition(text, at)}`);
  const readString = (): string => {
    const end = endOfString(text, at);
    if (end === -1) throw damaged();
    const written = text.slice(at, end);
    try {
      const value = JSON.parse(written) as string; // between quotes
      at = end;
      return value;
    } catch {
      throw damaged();
    }
  };
  const readName = (): string => {
    skip();
    if (text[at] !== '"') throw damaged();
    const name = readString();
    skip();
    if (text[at] !== ':') throw damaged();
    at += 1;
    const shown = cutName(name);
    if (shown !== name) onCut();
    return shown;
  };
  for (;;) {
    skip();
    const start = text[at];
    if (start === '{' || start === '[') {
      at += 1;
      skip();
      if (text[at] !== (start === '{' ? '}' : ']')) {
        if (path.length === deepestJson) throw fileDamaged('JSON', 'its values are nested too deep');
        path.push(start === '{' ? readName() : 0);
        continue;
      }
      at += 1;
      yield { path, text: start === '{' ? '{}' : '[]' };
    } else if (start === '"') yield { path, text: readString() };
    else {
      scalar.lastIndex = at;
      const found = scalar.exec(text)?.[0];
      if (found === undefined) throw damaged();
      at += found.length;
      yield { path, text: found };
    }
    // After a value: its container goes on, or it ends, and then the container around it.
    for (;;) {
      skip();
      const place = path.at(-1);
      if (place === undefined) {
        if (at < text.length) throw damaged();
        return;
      }
      const isItem = typeof place === 'number';
      const next = text[at];
      if (next !== ',' && next !== (isItem ? ']' : '}')) throw damaged();
      at += 1;
      path.pop();
      if (next === ',') {
        path.push(isItem ? place + 1 : readName());
        break;
      }
    }
  }
}

/** Returns the position after the closing quote; -1 when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code === 0x5c) at += 1;
  }
  return -1;
}

function describePosition(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return `line ${line}, column ${at - before.lastIndexOf('\n')}`;
}
