import type { Block } from '../../document.ts';
import { deepestStory, tableBlock } from '../docx/reader.ts';
import { childOf, childrenOf, findAll, textOf, type XmlElement } from '../docx/xml-tree.ts';
import { mathText } from '../html/math-text.ts';
import { pictureText } from '../picture-text.ts';
import { markText } from '../raised-text.ts';
import { type OpenList, wholeNumber } from './list-labels.ts';
import { isUnseen, type Reading, withBackdrop, withRun } from './reading.ts';
import { plainLook } from './text-look.ts';

/** Elements that only group others. */
const groups = new Set([
  ...['text:section', 'text:table-of-content', 'text:index-body', 'text:index-title', 'text:bibliography'],
  ...['text:alphabetical-index', 'text:illustration-index', 'text:table-index', 'text:user-index', 'text:object-index'],
  ...['text:numbered-paragraph', 'draw:g', 'draw:a', 'text:page-sequence'],
]);

/** Reads elements in their order: paragraphs, headings, lists, tables and frames. */
export function readBlocks(reading: Reading, elements: readonly XmlElement[]): Block[] {
  if (reading.depth >= deepestStory) {
    reading.warnings.add('Boxes or tables were left out because they are nested too deeply.');
    return [];
  }
  reading.depth += 1;
  const blocks = elements.flatMap((element) => readElement(reading, element));
  reading.depth -= 1;
  return blocks;
}

function readElement(reading: Reading, element: XmlElement): readonly Block[] {
  const { name, attributes } = element;
  if (name === 'text:p' || name === 'text:h') return readParagraph(reading, element);
  if (name === 'text:list') return readList(reading, element, { level: 1, open: openList(reading, element) });
  if (name === 'table:table') return readTable(reading, element);
  if (name === 'text:tracked-changes') reading.dropped.deleted += textOf(element).trim().length;
  else if (name === 'text:section' && isHiddenSection(attributes)) countHidden(reading, element);
  else if (groups.has(name))
    return withBackdrop(reading, isBacked(reading, attributes), () => readBlocks(reading, childrenOf(element)));
  else if (name.startsWith('draw:')) return readFrame(reading, element);
  return [];
}

/** Whether a section is hidden. The file stores the last result of a condition beside it. */
function isHiddenSection({ 'text:display': display, 'text:is-hidden': isHidden }: XmlElement['attributes']): boolean {
  return display === 'none' || (display === 'condition' && isHidden === 'true');
}

function isBacked({ fills }: Reading, attributes: XmlElement['attributes']): boolean {
  return fills(attributes['text:style-name'] ?? attributes['table:style-name'] ?? '') === true;
}

function countHidden(reading: Reading, element: XmlElement): void {
  reading.dropped.hidden += textOf(element).trim().length;
}

function readParagraph(reading: Reading, element: XmlElement, label = ''): Block[] {
  if (findAll(element, 'text:hidden-paragraph').some(isHidden)) {
    countHidden(reading, element);
    return [];
  }
  const line: Line = { text: '', after: [] };
  withRun(reading, plainLook, () => readSpan(reading, line, element));
  const text = tidy(line.text);
  const { attributes } = element;
  const isTitle = reading.titleStyles.has(attributes['text:style-name'] ?? '');
  if (element.name === 'text:h' || isTitle) {
    const level = isTitle ? 1 : (wholeNumber(attributes['text:outline-level']) ?? 1);
    const number = isTitle || attributes['text:is-list-header'] === 'true' ? '' : reading.labels.heading(level);
    const heading = [number || label.replace(/^-$/, ''), text].filter((part) => part !== '').join(' ');
    return [
      { kind: 'heading', level: Math.min(Math.max(level, 1), 6), text: text === '' ? '' : heading },
      ...line.after,
    ];
  }
  if (text === '') return line.after;
  if (label !== '') return [{ kind: 'list_item', text: `${label} ${text}` }, ...line.after];
  return [{ kind: 'paragraph', text }, ...line.after];
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/[\t ]+/g, ' ').trim());
  return lines.join('\n').trim();
}

interface Line {
  text: string;
  /** Blocks of frames and notes, which follow the paragraph. */
  readonly after: Block[];
}

/** Whether the condition of a field hides it. */
const isHidden = ({ attributes }: XmlElement) => attributes['text:is-hidden'] !== 'false';

/** Fields that change with the page. */
const pageFields = new Set(['text:page-number', 'text:page-count', 'text:page-continuation']);

function readInline(reading: Reading, line: Line, element: XmlElement): void {
  for (const child of element.children) {
    if (typeof child === 'string') {
      if (child.trim() !== '' && isUnseen(reading)) reading.dropped.hidden += child.trim().length;
      else line.text += child.replace(/\s+/g, ' ');
      continue;
    }
    const { name } = child;
    if (name === 'text:s' || name === 'text:tab') line.text += ' ';
    else if (name === 'text:line-break') line.text += '\n';
    else if (name === 'text:note') readNote(reading, line, child);
    else if (name === 'office:annotation') reading.dropped.comments += textOf(child).trim().length;
    else if (name === 'text:hidden-text' && isHidden(child)) countHidden(reading, child);
    else if (name === 'text:ruby-text') line.text += `(${textOf(child)})`;
    else if (name.startsWith('draw:')) readInlineFrame(reading, line, child);
    else if (!pageFields.has(name)) readSpan(reading, line, child);
  }
}

/** Reads an element whose style may hide, raise, strike or colour its text. */
function readSpan(reading: Reading, line: Line, element: XmlElement): void {
  const look = reading.looks.get(element.attributes['text:style-name'] ?? '');
  if (look === undefined) readInline(reading, line, element);
  else if (look.hidden) countHidden(reading, element);
  else if (!look.raised && !look.struck) withRun(reading, look, () => readInline(reading, line, element));
  else {
    const before = line.text;
    line.text = '';
    withRun(reading, look, () => readInline(reading, line, element));
    line.text = before + markText(before, line.text, look);
  }
}

function readNote(reading: Reading, line: Line, note: XmlElement): void {
  reading.notes += 1;
  const number = reading.notes;
  line.text += `[${number}]`;
  const blocks = readBlocks(reading, childrenOf(childOf(note, 'text:note-body')));
  for (const [at, block] of blocks.entries())
    line.after.push(at === 0 ? { ...block, text: `[${number}] ${block.text}` } : block);
}

/** A formula and the description of a picture stay in their line; other frames follow the paragraph. */
function readInlineFrame(reading: Reading, line: Line, frame: XmlElement): void {
  const formula = formulaOf(reading, frame);
  if (formula !== '') line.text += ` ${formula} `;
  else for (const block of readFrame(reading, frame)) line.after.push(block);
}

function formulaOf({ document }: Reading, frame: XmlElement): string {
  for (const object of childrenOf(frame, 'draw:object')) {
    const math = childOf(object, 'math') ?? document.readObject(object.attributes['xlink:href']);
    if (math?.name === 'math') return mathText(math);
  }
  return '';
}

/** Reads a frame or a shape: its boxes of text, its tables, its chart, or the description of its picture. */
export function readFrame(reading: Reading, frame: XmlElement): readonly Block[] {
  if (frame.name === 'draw:g' || frame.name === 'draw:a') return readBlocks(reading, childrenOf(frame));
  const formula = formulaOf(reading, frame);
  if (formula !== '') return [{ kind: 'paragraph', text: formula }];
  const boxes = childrenOf(frame, 'draw:text-box').flatMap((box) => childrenOf(box));
  const texts = [...boxes, ...childrenOf(frame).filter(({ name }) => isText.has(name))];
  const inside = withBackdrop(reading, true, () => readBlocks(reading, texts));
  const charts = childrenOf(frame, 'draw:object').flatMap(({ attributes }) =>
    readChart(reading, attributes['xlink:href']),
  );
  if (inside.length + charts.length > 0) return [...inside, ...charts];
  const description = childOf(frame, 'svg:desc') ?? childOf(frame, 'svg:title');
  const text = description === undefined ? '' : pictureText(textOf(description)).trim();
  return text === '' ? [] : [{ kind: 'paragraph', text }];
}

const isText = new Set(['text:p', 'text:h', 'text:list', 'table:table']);

function readChart(reading: Reading, address: string | undefined): readonly Block[] {
  const chart = [...findAll(reading.document.readObject(address), 'chart:chart')][0];
  const title = childOf(chart, 'chart:title');
  const heading = title === undefined ? '' : tidy(textOf(title));
  const tables = [...findAll(chart, 'table:table')].flatMap((table) => readTable(reading, table));
  return heading === '' ? tables : [{ kind: 'paragraph', text: heading }, ...tables];
}

interface Place {
  /** From 1. */
  readonly level: number;
  readonly open: OpenList;
}

function openList({ lists }: Reading, list: XmlElement): OpenList {
  const { attributes } = list;
  const style = attributes['text:style-name'] ?? '';
  const previous = attributes['text:continue-list'] ?? (attributes['text:continue-numbering'] === 'true' ? style : '');
  const open = { style, counts: lists.get(previous)?.counts ?? [] };
  lists.set(style, open);
  lists.set(attributes['xml:id'] ?? style, open);
  return open;
}

function readList(reading: Reading, list: XmlElement, { level, open }: Place): Block[] {
  const style = list.attributes['text:style-name'] ?? open.style;
  const own = style === open.style ? open : { style, counts: open.counts };
  const blocks: Block[] = [];
  for (const item of childrenOf(list)) {
    if (item.name !== 'text:list-item' && item.name !== 'text:list-header') continue;
    const start = wholeNumber(item.attributes['text:start-value']);
    let label = item.name === 'text:list-item' && startsWithText(item) ? reading.labels.next(own, level, start) : '';
    for (const child of childrenOf(item)) {
      const isParagraph = child.name === 'text:p' || child.name === 'text:h';
      if (child.name === 'text:list') {
        for (const block of readList(reading, child, { level: level + 1, open: own })) blocks.push(block);
      } else if (isParagraph) {
        for (const block of readParagraph(reading, child, label)) blocks.push(block);
        label = '';
      } else for (const block of readBlocks(reading, [child])) blocks.push(block);
    }
  }
  return blocks;
}

/** An item that holds another list only has no label. */
function startsWithText(item: XmlElement): boolean {
  return childrenOf(item)[0]?.name !== 'text:list';
}

/** Reads a table. A table of one cell is a frame, so its content is read as ordinary blocks. */
function readTable(reading: Reading, table: XmlElement): readonly Block[] {
  const { rows, headers } = tableRows(table);
  const isTableBacked = isBacked(reading, table.attributes) || 'table:template-name' in table.attributes;
  const readCell = (row: XmlElement, cell: XmlElement) =>
    withBackdrop(reading, isTableBacked || [row, cell].some(({ attributes }) => isBacked(reading, attributes)), () =>
      readBlocks(reading, childrenOf(cell)),
    );
  const cells = rows.map((row) =>
    childrenOf(row)
      .filter(({ name }) => name === 'table:table-cell' || name === 'table:covered-table-cell')
      .map((cell) => (cell.name === 'table:table-cell' ? readCell(row, cell) : [])),
  );
  if (cells.length === 1 && cells[0]?.length === 1) return cells[0][0] ?? [];
  const texts = cells.map((row) => row.map((blocks) => blocks.map(({ text }) => text).join(' ')));
  const block = tableBlock(texts, Math.max(1, headers));
  return block === undefined ? [] : [block];
}

/** Returns the rows of a table and the number of those that name its columns. */
export function tableRows(table: XmlElement): { rows: XmlElement[]; headers: number } {
  let headers = 0;
  const rows: XmlElement[] = [];
  const take = (element: XmlElement, isHeader: boolean) => {
    for (const child of childrenOf(element)) {
      if (child.name === 'table:table-row') {
        rows.push(child);
        if (isHeader) headers += 1;
      } else if (/^table:table-(?:header-rows|rows|row-group)$/.test(child.name)) {
        take(child, isHeader || child.name === 'table:table-header-rows');
      }
    }
  };
  take(table, false);
  return { rows, headers };
}
