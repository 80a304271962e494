import type { Block } from '../../document.ts';
import { createLine, drop, readInline } from './inline.ts';
import { deepestStory, type Reader, tableBlock, withBackdrop } from './reader.ts';
import { isShaded } from './styles.ts';
import { alternativesOf, childOf, childrenOf, isOn, valOf, type XmlElement } from './xml-tree.ts';

/** Reads the blocks of one story (the body, a note, a cell), one element after the other. */
export interface Story {
  take(element: XmlElement): void;
  end(): Block[];
}

/** Elements that are transparent: only their content is read. */
const wrappers = new Set(['w:ins', 'w:moveTo', 'w:customXml']);

export function createStory(reader: Reader): Story {
  const blocks: Block[] = [];
  /** Text of a paragraph that continues in the next one, because its mark was deleted or it is a drop cap. */
  let carried = '';

  function takeParagraph(element: XmlElement): void {
    const { block, after, goesOn } = readParagraph(reader, element, carried);
    carried = goesOn ? block.text : '';
    // A heading without text still separates the content above it from the content below.
    if (!goesOn && (block.text.trim() !== '' || block.kind === 'heading')) blocks.push(block);
    for (const other of after) blocks.push(other);
  }

  function take(element: XmlElement): void {
    const { name } = element;
    if (name === 'w:p' || name === 'm:oMathPara') takeParagraph(element);
    else if (name === 'w:tbl') for (const block of readTable(reader, element)) blocks.push(block);
    else if (name === 'w:sdt') takeAll(childOf(element, 'w:sdtContent'));
    else if (name === 'mc:AlternateContent') {
      takeAll(alternativesOf(element)[0]);
    } else if (wrappers.has(name)) takeAll(element);
    else if (name === 'w:altChunk' || name === 'w:subDoc') {
      reader.warnings.add('Another document that is embedded in this one was not read.');
    }
  }

  function takeAll(element: XmlElement | undefined): void {
    for (const child of childrenOf(element)) take(child);
  }

  return {
    take,
    end: () => {
      if (carried.trim() !== '') blocks.push({ kind: 'paragraph', text: carried.trim() });
      return blocks;
    },
  };
}

export function readStory(reader: Reader, elements: readonly XmlElement[]): Block[] {
  const story = createStory(reader);
  for (const element of elements) story.take(element);
  return story.end();
}

function readParagraph(
  reader: Reader,
  element: XmlElement,
  carried: string,
): { block: Block; after: readonly Block[]; goesOn: boolean } {
  const properties = childOf(element, 'w:pPr');
  const line = createLine(reader.styles.paragraphLook(properties));
  readInline(reader, line, { ...element, name: '' });
  const own = line.text
    .split('\n')
    .map((part) => part.trimEnd())
    .join('\n')
    .replace(/ {2,}/g, ' ')
    .trim();
  const text = carried === '' ? own : join(carried, line.text.trimEnd());
  const isJoined = isOn(childOf(properties, 'w:rPr'), 'w:del');
  const goesOn = isJoined || isDropCap(properties);
  // After a deleted mark, a line end in the text to be carried separates the words of both paragraphs.
  if (goesOn) return { block: { kind: 'paragraph', text: isJoined ? `${text}\n` : text }, after: line.after, goesOn };
  return { block: toBlock(reader, properties, text), after: line.after, goesOn };
}

/** A deleted paragraph mark leaves no blank, but the words beside it were two words. */
function join(carried: string, text: string): string {
  if (!carried.endsWith('\n')) return carried + text;
  const before = carried.trimEnd();
  const after = text.trimStart();
  return before === '' || endsAlone.test(before) || startsAlone.test(after) ? before + after : `${before} ${after}`;
}
/** Chinese and Japanese have no blanks between words, and closing signs follow their word. */
const endsAlone = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]$/u;
const startsAlone = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}.,;:!?)\]}’”»]/u;

function isDropCap(properties: XmlElement | undefined): boolean {
  const cap = childOf(properties, 'w:framePr')?.attributes.dropCap;
  return cap !== undefined && cap !== 'none';
}

function toBlock(reader: Reader, properties: XmlElement | undefined, text: string): Block {
  if (text === '' && reader.styles.isMarkHidden(properties)) return { kind: 'paragraph', text };
  const level = reader.styles.headingLevel(properties);
  const list = reader.styles.numbering(properties);
  // The numbering advances even when the paragraph does not show its number.
  const label = list === undefined ? '' : reader.numbering.next(list);
  // Other text refers to a heading by its number.
  if (level !== undefined) return { kind: 'heading', text: isNumber(label, text) ? `${label} ${text}` : text, level };
  if (text === '' || list === undefined) return { kind: 'paragraph', text };
  return { kind: 'list_item', text: label === '' ? text : `${label} ${text}` };
}

function isNumber(label: string, text: string): boolean {
  return text !== '' && label !== '' && label !== '-';
}

/** Reads a table. A table of one cell is a frame, so its content is read as ordinary blocks. */
export function readTable(reader: Reader, table: XmlElement): Block[] {
  if (reader.depth >= deepestStory) {
    reader.warnings.add('Boxes or tables were left out because they are nested too deeply.');
    return [];
  }
  reader.depth += 1;
  const elements = rowsOf(reader, table).map((row) => ({ row, cells: cellsOf(row) }));
  const properties = childOf(table, 'w:tblPr');
  const isBacked = isShaded(properties) === true || reader.styles.shadesTables(valOf(properties, 'w:tblStyle'));
  const readCell = (cell: XmlElement) =>
    withBackdrop(reader, isBacked || isShaded(childOf(cell, 'w:tcPr')) === true, () =>
      readStory(reader, childrenOf(cell)),
    );
  const rows = elements.map(({ cells }) => cells.map(readCell));
  reader.depth -= 1;
  const [only] = rows;
  if (rows.length === 1 && only?.length === 1) return only[0] ?? [];
  const headers = elements.findIndex(({ row }) => !isOn(childOf(row, 'w:trPr'), 'w:tblHeader'));
  const texts = rows.flatMap((cells, at) => (at < headers ? [cells.map(textOfCell)] : readAcross(cells)));
  const block = tableBlock(texts, Math.max(1, headers));
  return block === undefined ? [] : [block];
}

/** Reads neighbouring lists of equal length across the row, item by item, as they are laid out. */
function readAcross(cells: readonly (readonly Block[])[]): string[][] {
  const items = cells[0]?.length ?? 0;
  const areLists = cells.every((blocks) => blocks.length === items && blocks.every(({ kind }) => kind === 'list_item'));
  if (cells.length < 2 || items < 2 || !areLists) return [cells.map(textOfCell)];
  return Array.from({ length: items }, (_, at) => cells.map((blocks) => blocks[at]?.text ?? ''));
}

function textOfCell(blocks: readonly Block[]): string {
  return blocks.map((block) => block.text).join(' ');
}

/** Rows and cells may be wrapped in content controls. Deleted and hidden rows are omitted. */
function rowsOf(reader: Reader, table: XmlElement): XmlElement[] {
  return unwrapped(table, 'w:tr').filter((row) => {
    const properties = childOf(row, 'w:trPr');
    const isHidden = isOn(properties, 'w:hidden');
    if (isHidden) drop(reader, 'hidden', row);
    return !isHidden && !isOn(properties, 'w:del');
  });
}

/** A cell that continues from the row above is empty. */
function cellsOf(row: XmlElement): XmlElement[] {
  return unwrapped(row, 'w:tc').map((cell) => {
    const merge = childOf(childOf(cell, 'w:tcPr'), 'w:vMerge');
    const goesOn = merge !== undefined && valOf(childOf(cell, 'w:tcPr'), 'w:vMerge') !== 'restart';
    return goesOn ? { ...cell, children: [] } : cell;
  });
}

function unwrapped(element: XmlElement, name: string): XmlElement[] {
  return childrenOf(element).flatMap((child) => {
    if (child.name === name) return [child];
    if (child.name === 'w:sdt') return unwrapped(childOf(child, 'w:sdtContent') ?? child, name);
    return wrappers.has(child.name) ? unwrapped(child, name) : [];
  });
}
