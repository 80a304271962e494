import type { Block } from '../../document.ts';
import { pictureText } from '../picture-text.ts';
import { raisedText, struckText } from '../raised-text.ts';
import { shownIn, symbolText } from '../symbol-fonts.ts';
import { chartRows, chartTitle } from './chart.ts';
import { toLatex } from './math.ts';
import { deepestStory, type NoteKind, type Reader, tableBlock, withBackdrop } from './reader.ts';
import { type Look, plainLook } from './styles.ts';
import { alternativesOf, childOf, childrenOf, findAll, isOn, textOf, valOf, type XmlElement } from './xml-tree.ts';

/** The text of a paragraph while it is read. */
export interface Line {
  text: string;
  /** Blocks that are anchored to the paragraph and follow it: notes, text boxes, charts. */
  readonly after: Block[];
  /** Open fields: `code` is an instruction, `result` is the visible text. */
  readonly fields: Array<'code' | 'result'>;
  /** The number of characters of `text`, and of blocks of `after`, that describe pictures. */
  described: number;
  /** How the styles of the paragraph let text look. */
  readonly look: Look;
  /** The end of the text, if the last run is written with marks: raised or struck text may be several runs. */
  marked: Marked | undefined;
  /** The last characters of the text. */
  tail: string;
  /** The font of the current run; empty for that of its style. */
  font: string;
}

interface Marked {
  readonly look: Look;
  readonly before: string;
  readonly tail: string;
  readonly piece: string;
  readonly end: number;
}

export function createLine(look: Look = plainLook): Line {
  return { text: '', after: [], fields: [], described: 0, look, marked: undefined, tail: '', font: '' };
}

/** Adds the visible text of an element within a paragraph. Tracked changes count as accepted. */
export function readInline(reader: Reader, line: Line, element: XmlElement): void {
  const handler = handlers[element.name];
  if (handler !== undefined) handler(reader, line, element);
  else if (!element.name.endsWith('Pr')) readChildren(reader, line, element);
}

function readChildren(reader: Reader, line: Line, element: XmlElement | undefined): void {
  for (const child of childrenOf(element)) readInline(reader, line, child);
}

type Handler = (reader: Reader, line: Line, element: XmlElement) => void;

const nothing: Handler = () => {};
const print =
  (text: string): Handler =>
  (_, line) => {
    if (isShown(line)) line.text += text;
  };

const handlers: Readonly<Record<string, Handler>> = {
  'w:r': readRun,
  'w:t': (_, line, element) => {
    if (isShown(line)) line.text += shownIn(line.font, textOf(element));
  },
  'w:tab': print('\t'),
  'w:ptab': print('\t'),
  'w:br': print('\n'),
  'w:cr': print('\n'),
  'w:noBreakHyphen': print('\u2011'),
  'w:softHyphen': nothing,
  'w:sym': (reader, line, { attributes }) =>
    print(symbolText(attributes.font ?? '', Number.parseInt(attributes.char ?? '', 16)))(reader, line, emptyElement),
  'w:fldChar': (_, line, element) => turnField(line, element),
  'w:instrText': nothing,
  'w:del': (reader, _line, element) => drop(reader, 'deleted', element),
  'w:moveFrom': (reader, _line, element) => drop(reader, 'deleted', element),
  'w:delText': nothing,
  'w:sdt': readControl,
  'w:ruby': readRuby,
  'w:footnoteReference': (reader, line, element) => readNote(reader, line, { kind: 'footnote', element }),
  'w:endnoteReference': (reader, line, element) => readNote(reader, line, { kind: 'endnote', element }),
  'm:oMath': (_, line, element) => {
    if (isShown(line)) line.text = `${line.text} $${toLatex(element)}$ `;
  },
  'mc:AlternateContent': readAlternative,
  'w:txbxContent': (reader, line, element) =>
    hang(reader, line, () => withBackdrop(reader, true, () => reader.stories.readStory(reader, childrenOf(element)))),
  'w:tbl': (reader, line, element) => hang(reader, line, () => reader.stories.readTable(reader, element)),
  'c:chart': readChart,
  'dgm:relIds': readDiagram,
  'wp:inline': readPicture,
  'wp:anchor': readPicture,
  'v:shape': readShape,
  'v:rect': readShape,
  'a:t': (_, line, element) => {
    line.text += textOf(element);
  },
};

const emptyElement: XmlElement = { name: '', attributes: {}, children: [] };

function isShown(line: Line): boolean {
  return !line.fields.includes('code');
}

function readRun(reader: Reader, line: Line, element: XmlElement): void {
  const properties = childOf(element, 'w:rPr');
  const look = reader.styles.look(properties, line.look);
  if (look.hidden || (isUnseen(reader, look) && isText(element))) {
    drop(reader, 'hidden', element);
    return;
  }
  const before = line.text;
  line.text = '';
  line.font = fontOf(properties);
  readChildren(reader, line, element);
  const piece = line.text;
  line.text = before;
  if (look.raised || look.struck) addMarked(line, piece, look);
  else addPiece(line, piece);
}

/** Whether people cannot see the text: it is white on white, or smaller than they can read. */
function isUnseen({ backdrops }: Reader, { white, backed, tiny }: Look): boolean {
  return tiny || (white && !backed && backdrops === 0);
}

const ofText = new Set(['w:rPr', 'w:t', 'w:tab', 'w:br', 'w:cr', 'w:noBreakHyphen', 'w:softHyphen', 'w:sym']);

/** Whether a run has nothing but text. Blanks separate words, whatever their look. */
function isText(run: XmlElement): boolean {
  return textOf(run).trim() !== '' && childrenOf(run).every(({ name }) => ofText.has(name));
}

function fontOf(properties: XmlElement | undefined): string {
  const { ascii, hAnsi = '' } = childOf(properties, 'w:rFonts')?.attributes ?? {};
  return ascii ?? hAnsi;
}

function addPiece(line: Line, piece: string): void {
  line.text += piece;
  line.tail = (line.tail + piece.slice(-tailLength)).slice(-tailLength);
}
const tailLength = 8;

function addMarked(line: Line, piece: string, look: Look): void {
  if (piece === '') return;
  const { marked } = line;
  const goesOn =
    marked?.end === line.text.length && marked.look.raised === look.raised && marked.look.struck === look.struck;
  const start = goesOn ? marked : { before: line.text, tail: line.tail, piece: '' };
  const whole = start.piece + piece;
  const raised = look.raised ? raisedText(start.tail, whole) : whole;
  line.text = start.before;
  line.tail = start.tail;
  addPiece(line, look.struck ? struckText(raised) : raised);
  line.marked = { look, before: start.before, tail: start.tail, piece: whole, end: line.text.length };
}

export function drop(reader: Reader, reason: keyof Reader['dropped'], element: XmlElement): void {
  for (const name of ['w:t', 'w:delText']) {
    for (const text of findAll(element, name)) reader.dropped[reason] += textOf(text).length;
  }
}

function turnField(line: Line, element: XmlElement): void {
  const turn = element.attributes.fldCharType;
  if (turn === 'begin') {
    if (isShown(line)) line.text += valueOfField(childOf(element, 'w:ffData'));
    line.fields.push('code');
  } else if (turn === 'end') line.fields.pop();
  else if (turn === 'separate' && line.fields.length > 0) line.fields[line.fields.length - 1] = 'result';
}

/** A check box and a list of options have no result in the text. Without a value, the field shows its default. */
function valueOfField(data: XmlElement | undefined): string {
  const box = childOf(data, 'w:checkBox');
  if (box !== undefined) {
    const state = childOf(box, 'w:checked') === undefined ? 'w:default' : 'w:checked';
    return isOn(box, state) ? '[x]' : '[ ]';
  }
  const list = childOf(data, 'w:ddList');
  const chosen = Number(valOf(list, 'w:result') ?? valOf(list, 'w:default') ?? 0);
  return childrenOf(list, 'w:listEntry')[chosen]?.attributes.val ?? '';
}

/** A check box becomes text, so that a question can refer to it. */
function readControl(reader: Reader, line: Line, element: XmlElement): void {
  const box = childOf(childOf(element, 'w:sdtPr'), 'w14:checkbox');
  if (box === undefined) readChildren(reader, line, childOf(element, 'w:sdtContent'));
  else if (isShown(line)) line.text += isOn(box, 'w14:checked') ? '[x]' : '[ ]';
}

/** The pronunciation follows the characters, in brackets. */
function readRuby(reader: Reader, line: Line, element: XmlElement): void {
  readChildren(reader, line, childOf(element, 'w:rubyBase'));
  const reading = createLine();
  readChildren(reader, reading, childOf(element, 'w:rt'));
  if (reading.text !== '' && isShown(line)) line.text += `(${reading.text})`;
}

function readNote(reader: Reader, line: Line, note: { kind: NoteKind; element: XmlElement }): void {
  if (!isShown(line)) return;
  const found = reader.notes.take(note.kind, note.element.attributes.id ?? '');
  if (found === undefined) return;
  line.text += `[${found.number}]`;
  hang(reader, line, () => {
    const [first, ...others] = reader.stories.readStory(reader, found.content);
    return first === undefined ? [] : [{ ...first, text: `[${found.number}] ${first.text}` }, ...others];
  });
}

/** Alternatives for newer and older programs have the same content, so only one that has text is read. */
function readAlternative(reader: Reader, line: Line, element: XmlElement): void {
  const contentOf = () => line.text.length - line.described + line.after.length;
  for (const choice of alternativesOf(element)) {
    const before = contentOf();
    readChildren(reader, line, choice);
    if (contentOf() > before) return;
  }
}

/** A picture in the text is described in its place, one that floats after the paragraph. */
function readPicture(reader: Reader, line: Line, element: XmlElement): void {
  const { descr, title } = childOf(element, 'wp:docPr')?.attributes ?? {};
  describePicture(line, descr || title, element.name === 'wp:anchor');
  readChildren(reader, line, element);
}

function readShape(reader: Reader, line: Line, element: XmlElement): void {
  describePicture(line, element.attributes.alt, true);
  readChildren(reader, line, element);
}

/** Adds a description, unless the line has it from the alternative for other programs. */
function describePicture(line: Line, description = '', floats = false): void {
  const inPlace = pictureText(description, 1);
  const text = inPlace.trim();
  if (!isShown(line) || text === '' || line.text.includes(text) || line.after.some((block) => block.text === text))
    return;
  if (floats) line.after.push({ kind: 'paragraph', text });
  else line.text += inPlace;
  line.described += floats ? 1 : inPlace.length;
}

function readChart(reader: Reader, line: Line, element: XmlElement): void {
  const chart = reader.parts.read(element.attributes['r:id']);
  const title = chartTitle(chart);
  const table = tableBlock(chartRows(chart));
  if (title !== '') line.after.push({ kind: 'paragraph', text: title });
  if (table !== undefined) line.after.push(table);
}

function readDiagram(reader: Reader, line: Line, element: XmlElement): void {
  const points = findAll(reader.parts.read(element.attributes['r:dm']), 'dgm:pt');
  for (const point of points) {
    const text = [...findAll(point, 'a:t')].map(textOf).join('').trim();
    if (text !== '') line.after.push({ kind: 'list_item', text: `- ${text}` });
  }
}

function hang(reader: Reader, line: Line, read: () => readonly Block[]): void {
  if (!isShown(line)) return;
  if (reader.depth >= deepestStory) {
    reader.warnings.add('Boxes or tables were left out because they are nested too deeply.');
    return;
  }
  reader.depth += 1;
  for (const block of read()) line.after.push(block);
  reader.depth -= 1;
}
