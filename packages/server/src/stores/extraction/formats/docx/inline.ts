import type { Block } from '../../document.ts';
import { pictureText } from '../picture-text.ts';
import { chartRows, chartTitle } from './chart.ts';
import { toLatex } from './math.ts';
import { deepestStory, type NoteKind, type Reader, tableBlock } from './reader.ts';
import { childOf, childrenOf, findAll, isOn, textOf, valOf, type XmlElement } from './xml-tree.ts';

/** The text of a paragraph while it is read. */
export interface Line {
  text: string;
  /** Blocks that are anchored to the paragraph and follow it: notes, text boxes, charts. */
  readonly after: Block[];
  /** Open fields: `code` is an instruction, `result` is the visible text. */
  readonly fields: Array<'code' | 'result'>;
  /** The number of characters of `text`, and of blocks of `after`, that describe pictures. */
  described: number;
}

export function createLine(): Line {
  return { text: '', after: [], fields: [], described: 0 };
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
    if (isShown(line)) line.text += textOf(element);
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
    hang(reader, line, () => reader.stories.readStory(reader, childrenOf(element))),
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
  if (isOn(properties, 'w:vanish')) drop(reader, 'hidden', element);
  else readChildren(reader, line, element);
}

function drop(reader: Reader, reason: keyof Reader['dropped'], element: XmlElement): void {
  for (const name of ['w:t', 'w:delText']) {
    for (const text of findAll(element, name)) reader.dropped[reason] += textOf(text).length;
  }
}

function turnField(line: Line, element: XmlElement): void {
  const turn = element.attributes.fldCharType;
  if (turn === 'begin') line.fields.push('code');
  else if (turn === 'end') line.fields.pop();
  else if (turn === 'separate' && line.fields.length > 0) line.fields[line.fields.length - 1] = 'result';
}

/** A check box becomes text, so that a question can refer to it. */
function readControl(reader: Reader, line: Line, element: XmlElement): void {
  const box = childOf(childOf(element, 'w:sdtPr'), 'w14:checkbox');
  if (box === undefined) readChildren(reader, line, childOf(element, 'w:sdtContent'));
  else if (isShown(line)) line.text += valOf(box, 'w14:checked') === '1' ? '[x]' : '[ ]';
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
  for (const choice of [...childrenOf(element, 'mc:Choice'), ...childrenOf(element, 'mc:Fallback')]) {
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

/** Maps the private characters of symbol fonts to the equal Unicode characters. */
const symbolLetters = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ';
const symbolCapitals = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const symbolSigns = new Map([
  [0xa3, '≤'],
  [0xa5, '∞'],
  [0xae, '→'],
  [0xb0, '°'],
  [0xb1, '±'],
  [0xb3, '≥'],
  [0xb4, '×'],
  [0xb7, '•'],
  [0xb8, '÷'],
  [0xb9, '≠'],
  [0xba, '≡'],
  [0xbb, '≈'],
  [0xce, '∈'],
  [0xd6, '√'],
  [0xde, '⇒'],
  [0xe5, '∑'],
  [0xf2, '∫'],
]);
const wingdings = new Map([
  [0x6f, '☐'],
  [0x71, '❑'],
  [0x76, '❖'],
  [0x78, '☒'],
  [0xa7, '▪'],
  [0xa8, '☐'],
  [0xd8, '➢'],
  [0xe0, '→'],
  [0xfb, '✗'],
  [0xfc, '✓'],
  [0xfd, '☒'],
  [0xfe, '☑'],
]);

/** `code` as in the file: often moved to the private area at F000. Empty when there is no such character. */
function symbolText(font: string, code: number): string {
  const at = code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code;
  if (/^wingdings/i.test(font)) return wingdings.get(at) ?? '';
  if (/^symbol/i.test(font)) {
    if (at >= 0x61 && at <= 0x7a) return symbolLetters.charAt(at - 0x61);
    if (at >= 0x41 && at <= 0x5a) return symbolCapitals.charAt(at - 0x41);
    return symbolSigns.get(at) ?? (at >= 0x20 && at < 0x7f ? String.fromCharCode(at) : '');
  }
  const isPrivate = code >= 0xe000 && code <= 0xf8ff;
  return isPrivate || Number.isNaN(code) || code > 0x10ffff ? '' : String.fromCodePoint(code);
}
