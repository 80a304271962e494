import type { Block } from '../../document.ts';
import { chartRows, chartTitle } from '../docx/chart.ts';
import { toLatex } from '../docx/math.ts';
import { tableBlock } from '../docx/reader.ts';
import { childOf, childrenOf, findAll, type XmlElement } from '../docx/xml-tree.ts';
import { pictureText } from '../picture-text.ts';

export interface SlideText {
  /** Empty when the slide has none. */
  readonly title: string;
  readonly blocks: readonly Block[];
  /** Characters of dates, slide numbers and footers. */
  readonly footers: number;
}

export interface ShapeContext {
  /** The part that a relationship of the slide names, parsed. */
  find(id: string): XmlElement | undefined;
  /** Chooses boxes by their place in the layout. Default: all. */
  isWanted?(place: string | undefined): boolean;
}

interface Reading extends ShapeContext {
  title: string;
  footers: number;
  readonly blocks: Block[];
}

/** Places of the layout that repeat on every slide. */
const furniture = new Set(['dt', 'ftr', 'hdr', 'sldNum']);
const titles = new Set(['title', 'ctrTitle']);
/** Text in these places is a list, if it has several paragraphs. */
const lists = new Set([undefined, 'body', 'obj']);

/** Reads the boxes of a slide in their order in the file, which programs for the blind follow; the title comes first. */
export function readShapes(slide: XmlElement | undefined, context: ShapeContext): SlideText {
  const reading: Reading = { ...context, title: '', footers: 0, blocks: [] };
  readTree(reading, childOf(childOf(slide, 'p:cSld'), 'p:spTree'));
  const { title, blocks, footers } = reading;
  return { title, blocks, footers };
}

function readTree(reading: Reading, tree: XmlElement | undefined): void {
  for (const shape of childrenOf(tree)) {
    switch (shape.name) {
      case 'p:sp':
        readBox(reading, shape);
        break;
      case 'p:grpSp':
        readTree(reading, shape);
        break;
      case 'p:graphicFrame':
        readFrame(reading, shape);
        break;
      case 'p:pic':
        describe(reading, shape);
        break;
      case 'mc:AlternateContent': {
        // Both say the same; the second is for older programs.
        const before = reading.blocks.length;
        readTree(reading, childOf(shape, 'mc:Choice'));
        if (reading.blocks.length === before) readTree(reading, childOf(shape, 'mc:Fallback'));
        break;
      }
      default:
    }
  }
}

function readBox(reading: Reading, shape: XmlElement): void {
  const placeholder = findAll(childOf(shape, 'p:nvSpPr'), 'p:ph').next().value;
  const place = placeholder?.attributes.type;
  if (reading.isWanted?.(place) === false) return;
  const paragraphs = childrenOf(childOf(shape, 'p:txBody'), 'a:p').map((paragraph) => ({
    text: paragraphText(paragraph),
    isBullet: isBullet(paragraph, placeholder !== undefined && lists.has(place)),
  }));
  const filled = paragraphs.filter(({ text }) => text !== '');
  if (place !== undefined && furniture.has(place)) {
    reading.footers += filled.reduce((sum, { text }) => sum + text.length, 0);
    return;
  }
  if (place !== undefined && titles.has(place) && reading.title === '') {
    reading.title = filled.map(({ text }) => text.replaceAll('\n', ' ')).join(' ');
    return;
  }
  const areItems = filled.length > 1;
  for (const { text, isBullet: isItem } of filled)
    reading.blocks.push(areItems && isItem ? itemOf(text) : { kind: 'paragraph', text });
  if (filled.length === 0) describe(reading, shape);
}

function itemOf(text: string): Block {
  return { kind: 'list_item', text: `- ${text}` };
}

function isBullet(paragraph: XmlElement, isInList: boolean): boolean {
  const properties = childOf(paragraph, 'a:pPr');
  if (childOf(properties, 'a:buNone') !== undefined) return false;
  return isInList || ['a:buChar', 'a:buAutoNum', 'a:buBlip'].some((name) => childOf(properties, name) !== undefined);
}

/** The text of a paragraph, with its breaks of lines. */
function paragraphText(paragraph: XmlElement): string {
  return childrenOf(paragraph).map(runText).join('').split('\n').map(onOneLine).join('\n').trim();
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function runText(run: XmlElement): string {
  if (run.name === 'a:r' || (run.name === 'a:fld' && run.attributes.type !== 'slidenum'))
    return childrenOf(run, 'a:t')
      .flatMap(({ children }) => children.filter((child) => typeof child === 'string'))
      .join('');
  if (run.name === 'a:br') return '\n';
  if (run.name === 'mc:AlternateContent') return childrenOf(childOf(run, 'mc:Choice')).map(runText).join('');
  const formula = findAll({ name: '', attributes: {}, children: [run] }, 'm:oMath').next().value;
  return formula === undefined ? '' : ` ${toLatex(formula)} `;
}

/** A table, a chart or a diagram. */
function readFrame(reading: Reading, frame: XmlElement): void {
  const before = reading.blocks.length;
  const table = findAll(frame, 'a:tbl').next().value;
  if (table !== undefined) add(reading, tableOf(table));
  for (const { attributes } of findAll(frame, 'c:chart')) {
    const chart = reading.find(attributes['r:id'] ?? '');
    const title = chartTitle(chart).trim();
    if (title !== '') reading.blocks.push({ kind: 'paragraph', text: title });
    add(reading, tableBlock(chartRows(chart)));
  }
  for (const { attributes } of findAll(frame, 'dgm:relIds'))
    for (const body of findAll(reading.find(attributes['r:dm'] ?? ''), 'dgm:t'))
      for (const paragraph of childrenOf(body, 'a:p')) {
        const text = paragraphText(paragraph);
        if (text !== '') reading.blocks.push(itemOf(text));
      }
  if (reading.blocks.length === before) describe(reading, frame);
}

function add(reading: Reading, block: Block | undefined): void {
  if (block !== undefined) reading.blocks.push(block);
}

function tableOf(table: XmlElement): Block | undefined {
  const rows = childrenOf(table, 'a:tr').map((row) =>
    childrenOf(row, 'a:tc').map((cell) => {
      // A merged cell has its text in its first cell.
      const isCovered = [cell.attributes.hMerge, cell.attributes.vMerge].some(
        (value) => value === '1' || value === 'true',
      );
      const paragraphs = childrenOf(childOf(cell, 'a:txBody'), 'a:p').map(paragraphText);
      return isCovered ? '' : paragraphs.filter((text) => text !== '').join(' ');
    }),
  );
  return tableBlock(rows);
}

/** Adds the description of a picture. */
function describe(reading: Reading, shape: XmlElement): void {
  const properties = findAll(shape, 'p:cNvPr').next().value;
  const text = pictureText(properties?.attributes.descr ?? '').trim();
  if (text !== '') reading.blocks.push({ kind: 'paragraph', text });
}
