import { placeLimits } from '../../cut-text.ts';
import type { Block, Document } from '../../document.ts';
import { decodeText } from '../../encoding/decode-text.ts';
import { ExtractionError, fileDamaged, unpackedLimit } from '../../extraction-error.ts';
import { listed } from '../numerals.ts';
import { type JsonValue, readJsonValues } from './json-values.ts';

/** A longer text is a paragraph of its own. */
const longText = 200;

/**
 * Reads a JSON document. Each value is a line `name: value` with its whole path. The items of the outermost list, and of
 * the lists that are members of the root, are paragraphs.
 * @throws ExtractionError when it is no JSON
 */
export function readJson(bytes: Uint8Array, charset?: string): Document {
  const { text, facts, warnings } = decodeText(bytes, [charset]);
  const writer = createItemWriter(text.length);
  let current = '';
  let cutNames = 0;
  const onCut = () => {
    cutNames += 1;
  };
  for (const { path, text: value } of readJsonValues(text, onCut)) {
    const itemAt = positionOfItem(path);
    const isSimple = path.length < 2 || (path.length === 2 && typeof path[1] === 'number');
    const item = itemAt === -1 ? (isSimple ? '' : `${path[0]}`) : path.slice(0, itemAt + 1).join(' ');
    if (item !== current) writer.endItem();
    current = item;
    writer.add(path, itemAt, value);
  }
  return { blocks: writer.blocks(), facts, warnings: [...warnings, ...describeCut(cutNames)] };
}

/** Returns the position of the index of the item in the path; -1 for a value that belongs to no item. */
function positionOfItem(path: JsonValue['path']): number {
  if (typeof path[0] === 'number') return 0;
  return typeof path[1] === 'number' && path.length > 2 ? 1 : -1;
}

/** Reads a text whose lines are JSON documents. A line that is none stays as it is, and a warning names it. */
export function readJsonLines(bytes: Uint8Array, charset?: string): Document {
  const { text, facts, warnings } = decodeText(bytes, [charset]);
  const writer = createItemWriter(text.length);
  const bad: number[] = [];
  let lines = 0;
  let number = 0;
  let cutNames = 0;
  const onCut = () => {
    cutNames += 1;
  };
  for (const line of eachLine(text)) {
    number += 1;
    if (line.trim() === '') continue;
    lines += 1;
    const values = readLine(line, onCut);
    if (values === undefined) {
      bad.push(number);
      writer.addText(line);
    } else for (const { path, text: value } of values) writer.add(path, -1, value);
    writer.endItem();
  }
  if (bad.length > Math.max(1, lines / 10) || (lines > 0 && bad.length === lines))
    throw fileDamaged('JSON Lines', `${bad.length} of ${lines} lines are no JSON; the first is line ${bad[0]}`);
  return { blocks: writer.blocks(), facts, warnings: [...warnings, ...describeBad(bad), ...describeCut(cutNames)] };
}

/** @returns undefined for a line that is no JSON */
function readLine(line: string, onCut: () => void): JsonValue[] | undefined {
  try {
    return Array.from(readJsonValues(line, onCut), ({ path, text }) => ({ path: [...path], text }));
  } catch (cause) {
    if (cause instanceof ExtractionError) return undefined;
    throw cause;
  }
}

function describeBad(bad: readonly number[]): string[] {
  if (bad.length === 0) return [];
  return [`bad_lines: These lines are no JSON and were kept as text: ${listed(bad, 20)}.`];
}

function describeCut(names: number): string[] {
  if (names === 0) return [];
  return [
    `names_cut: ${names} names of values are longer than ${placeLimits.name} characters; the text has their beginning.`,
  ];
}

function* eachLine(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    yield text.slice(at, end === -1 ? text.length : end);
    if (end === -1) return;
    at = end + 1;
  }
}

/** @param length the characters of the document */
function createItemWriter(length: number) {
  const labelOf = createLabels(length);
  const blocks: Block[] = [];
  let lines: string[] = [];
  let lastLabel: string | undefined;

  function flush(): void {
    if (lines.length > 0) blocks.push({ kind: 'paragraph', text: lines.join('\n') });
    lines = [];
    lastLabel = undefined;
  }

  return {
    addText: (text: string) => void lines.push(text),
    /** @param itemAt the position of the index that the paragraph stands for */
    add: (path: JsonValue['path'], itemAt: number, text: string) => {
      const label = labelOf(path, itemAt);
      const isLong = text.length >= longText || text.includes('\n');
      if (isLong) flush();
      const isListItem = typeof path.at(-1) === 'number' && path.length > itemAt + 1;
      if (isListItem && label === lastLabel) lines.push(`${lines.pop() ?? ''}, ${text}`);
      else lines.push(label === '' ? text : `${label}: ${text}`);
      lastLabel = label;
      if (isLong) flush();
    },
    endItem: flush,
    blocks: () => {
      flush();
      return blocks;
    },
  };
}

/**
 * A document may repeat its names for each value. These bound the repeated characters: a constant, plus a number for each
 * character of the text of the document.
 */
export const jsonLabelLimits = { characters: 4 * 2 ** 20, perCharacter: 16 } as const;

/** @param itemAt the position of an index that is left out */
type LabelOf = (path: JsonValue['path'], itemAt: number) => string;

/**
 * Creates a function that returns names such as `authors[2].name` for the values of one document, in their order. The
 * simple values of a list share the name of the list, which is built once.
 * @param length the characters of the document
 */
export function createLabels(length: number): LabelOf {
  const most = jsonLabelLimits.characters + jsonLabelLimits.perCharacter * length;
  let characters = 0;
  let last = { length: 0, index: -1, label: '' };
  return (path, itemAt) => {
    const index = path.at(-1);
    if (typeof index !== 'number') last = { length: 0, index: -1, label: buildLabel(path, itemAt, path.length) };
    else if (index > 0 && path.length === last.length && index === last.index + 1) {
      // The value before this one belongs to the same list.
      last = { ...last, index };
      return last.label;
    } else last = { length: path.length, index, label: buildLabel(path, itemAt, path.length - 1) };
    characters += last.label.length;
    if (characters > most)
      throw unpackedLimit(`the names of its values, repeated for each of them, take more than ${most} characters`);
    return last.label;
  };
}

function buildLabel(path: JsonValue['path'], itemAt: number, end: number): string {
  let label = '';
  for (let at = 0; at < end; at += 1) {
    const part = path[at] ?? '';
    if (at === itemAt) continue;
    label += typeof part === 'number' ? `[${part + 1}]` : label === '' ? part : `.${part}`;
  }
  return label;
}
