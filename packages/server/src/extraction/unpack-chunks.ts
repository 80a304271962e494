import { parseJson } from '../kernel/parse-json.ts';
import { head, numberAt, numbers, openTable, perChunk, refuse } from './batch-table.ts';
import type { ExtractedChunk } from './extraction.ts';

/** A chunk as it is stored: texts are well-formed and without U+0000, which PostgreSQL does not keep. */
export interface UnpackedChunk
  extends Pick<ExtractedChunk, 'ordinal' | 'content' | 'question' | 'answer' | 'numTokens' | 'words'> {
  readonly rowKey: string | null;
  /** JSON. */
  readonly metadata: string;
  /** JSON. */
  readonly locator: string | null;
}

/** Reads chunks out of a batch. @throws MalformedBatch */
export function* unpackChunks(packed: Uint8Array): Generator<UnpackedChunk> {
  const { table, isWide } = openTable(packed);
  const next = cutTexts(packed.subarray(table.byteLength), isWide);
  for (let at = head; at < table.length; at += perChunk) {
    const content = next(numberAt(table, at + numbers.content));
    const answer = numberAt(table, at + numbers.answer);
    if (answer !== -1) checkPair(content, answer);
    const words = next(numberAt(table, at + numbers.words));
    const metadata = next(numberAt(table, at + numbers.metadata));
    const locator = numberAt(table, at + numbers.locator);
    yield {
      ordinal: numberAt(table, at + numbers.ordinal),
      numTokens: numberAt(table, at + numbers.numTokens),
      content,
      question: answer === -1 ? null : content.slice(0, answer - betweenPair.length),
      answer: answer === -1 ? null : content.slice(answer),
      words,
      metadata: checkObject(metadata, isText),
      locator: locator === -1 ? null : checkObject(next(locator), isPlace),
      rowKey: readKey(next, numberAt(table, at + numbers.rowKey)),
    };
  }
}

/** @returns a function that gives the next so many characters */
function cutTexts(bytes: Uint8Array, isWide: boolean): (length: number) => string {
  const decoded = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(isWide ? 'utf16le' : 'latin1');
  const text = storable(decoded);
  let end = 0;
  return (length) => {
    const start = end;
    end += length;
    const part = text.slice(start, end);
    // The text is well-formed as a whole; a cut may be between the halves of a surrogate pair.
    return isWide ? part.toWellFormed() : part;
  };
}

/** As long as it was. */
function storable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).toWellFormed();
}

/** As `contentOfPair` puts it. */
const betweenPair = '\n\n';

function checkPair(content: string, answer: number): void {
  const question = answer - betweenPair.length;
  if (question < 0 || !content.startsWith(betweenPair, question)) refuse('a content is not its question and answer');
}

function readKey(next: (length: number) => string, length: number): string | null {
  return length === -1 ? null : next(length);
}

/** JSON of an object with such values; escapes of what cannot be stored are taken out. */
function checkObject(json: string, isValue: (value: unknown) => boolean): string {
  if (json === '{}') return json;
  const object = parse(json);
  if (typeof object !== 'object' || object === null || Array.isArray(object)) refuse('not an object');
  const entries = Object.entries(object as object); // it is one
  if (!entries.every(([, value]) => isValue(value))) refuse('an object with other values');
  if (!json.includes('\\u')) return json;
  return JSON.stringify(Object.fromEntries(entries.map(([name, value]) => [storable(name), toStorable(value)])));
}

function toStorable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toStorable);
  return isText(value) ? storable(value) : value;
}

function parse(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return refuse('an object that is no JSON');
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** What a `Locator` holds. */
function isPlace(value: unknown): boolean {
  return isText(value) || Number.isSafeInteger(value) || (Array.isArray(value) && value.every(isText));
}
