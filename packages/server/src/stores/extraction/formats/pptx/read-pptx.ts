import type { Block, Document } from '../../document.ts';
import { fileDamaged, fileTypeMismatch } from '../../extraction-error.ts';
import { chartRows, chartTitle } from '../docx/chart.ts';
import { toLatex } from '../docx/math.ts';
import { findMain, type Relationship, readRelationships } from '../docx/package-parts.ts';
import { tableBlock } from '../docx/reader.ts';
import { alternativesOf, childOf, childrenOf, findAll, parseXml, textOf, type XmlElement } from '../docx/xml-tree.ts';
import { describeHiddenSlides } from '../hidden-slides.ts';
import { listed } from '../numerals.ts';
import { openPackage } from '../open-package.ts';
import { pictureText } from '../picture-text.ts';
import { raisedText, struckText } from '../raised-text.ts';

/**
 * Reads the slides of a presentation in the order of the show, each with its title as a heading, then its notes and
 * comments. Hidden slides are read, and a warning names them. Only parts of the file are opened.
 */
export async function readPptx(bytes: Uint8Array): Promise<Document> {
  const file = await openPackage(bytes, 'pptx');
  const { get, names, main: presentation, relationships, title } = findMain(file, 'ppt/presentation.xml');
  const list = presentation === undefined ? undefined : childOf(parseXml(presentation), 'p:presentation');
  if (list === undefined) {
    const isOther = names.some((part) => /^(?:xl|word)\//.test(part));
    throw isOther ? fileTypeMismatch('PowerPoint', 'another Office format') : damaged('its list of slides is missing');
  }
  const targets = slidesOf(list, relationships);
  const blocks: Block[] = [];
  const [hidden, missing]: [number[], number[]] = [[], []];
  let footers = 0;
  for (const [index, target] of targets.entries()) {
    const part = target === null ? undefined : get(target);
    if (target === null || part === undefined) {
      missing.push(index + 1);
      continue;
    }
    const slide = readSlide({ get, target, part, number: index + 1 });
    if (slide.isHidden) hidden.push(index + 1);
    footers += slide.footers;
    for (const block of slide.blocks) blocks.push({ ...block, page: index + 1 });
  }
  return {
    blocks,
    facts: { ...(title === undefined ? {} : { title }), pages: targets.length, dropped: { footers } },
    warnings: [
      ...file.warnings,
      ...describeHiddenSlides(hidden),
      ...(missing.length === 0 ? [] : [`missing_slides: These slides are not in the file: ${listed(missing)}.`]),
    ],
  };
}

function damaged(detail: string) {
  return fileDamaged('PowerPoint', detail);
}

/** Returns the part of each slide; null for one that is not in the file. A slide that is listed twice is shown once. */
function slidesOf(presentation: XmlElement, relationships: ReadonlyMap<string, Relationship>): (string | null)[] {
  const list = findAll(presentation, 'p:sldIdLst').next().value;
  const ids = childrenOf(list, 'p:sldId').map(({ attributes }) => attributes['r:id'] ?? '');
  const targets = new Map(
    ids.map((id) => [relationships.get(id)?.target ?? id, relationships.get(id)?.target ?? null]),
  );
  return [...targets.values()];
}

interface SlidePart {
  readonly get: (name: string) => Uint8Array | undefined;
  readonly target: string;
  readonly part: Uint8Array;
  /** From 1. */
  readonly number: number;
}

function readSlide({ get, target, part, number }: SlidePart) {
  const relationships = readRelationships(get, target);
  const read = (name: string | null | undefined) => {
    const bytes = name === null || name === undefined ? undefined : get(name);
    return bytes === undefined ? undefined : parseXml(bytes);
  };
  const related = (kind: string) => [...relationships.values()].filter((one) => one.kind === kind);
  const root = childrenOf(parseXml(part))[0];
  const text = readShapes(root, { find: (id) => read(relationships.get(id)?.target) });
  const notes = related('notesSlide').flatMap((one) => notesOf(read(one.target)));
  const comments = related('comments').flatMap((one) => commentsOf(read(one.target)));
  const heading = { kind: 'heading', level: 1, text: text.title === '' ? `Slide ${number}` : text.title } as const;
  const notesHeading = { kind: 'heading', level: 2, text: 'Notes' } as const;
  return {
    blocks: [heading, ...text.blocks, ...comments, ...(notes.length === 0 ? [] : [notesHeading, ...notes])],
    isHidden: root?.attributes.show === '0' || root?.attributes.show === 'false',
    footers: text.footers,
  };
}

/** The notes are in the body of their page; its other boxes repeat the slide, its number and the date. */
function notesOf(page: XmlElement | undefined): Block[] {
  if (page === undefined) return [];
  const text: SlideText = readShapes(childrenOf(page)[0], {
    find: () => undefined,
    isWanted: (place) => place === 'body',
  });
  return text.blocks.map(({ text: note }) => ({ kind: 'paragraph', text: note.replace(/^- /, '') }));
}

function commentsOf(list: XmlElement | undefined): Block[] {
  const texts = [...findAll(list, 'p:text')].map(textOf);
  // Comments since 2021 are bodies of text, which replies follow.
  const found = texts.length > 0 ? texts : [...findAll(list, 'a:p')].map(textOf);
  return found
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => ({ kind: 'paragraph', text: `Comment: ${text}` }));
}

interface SlideText {
  /** Empty when the slide has none. */
  readonly title: string;
  readonly blocks: readonly Block[];
  /** Characters of dates, slide numbers and footers. */
  readonly footers: number;
}

interface ShapeContext {
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
function readShapes(slide: XmlElement | undefined, context: ShapeContext): SlideText {
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
        for (const each of alternativesOf(shape)) if (reading.blocks.length === before) readTree(reading, each);
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
  const pieces: Piece[] = [];
  for (const run of childrenOf(paragraph)) {
    const piece = { ...lookOf(run), text: runText(run) };
    const last = pieces.at(-1);
    const goesOn = last?.raised === piece.raised && last.struck === piece.struck;
    if (goesOn) last.text += piece.text;
    else pieces.push(piece);
  }
  const written = pieces.map(({ text, raised, struck }, at) => {
    const shown = raised ? raisedText(pieces[at - 1]?.text.slice(-charactersBefore) ?? '', text) : text;
    return struck ? struckText(shown) : shown;
  });
  return written.join('').split('\n').map(onOneLine).join('\n').trim();
}
/** The characters that decide how a raised text is written. */
const charactersBefore = 8;

interface Piece {
  text: string;
  readonly raised: boolean;
  readonly struck: boolean;
}

function lookOf(run: XmlElement): Omit<Piece, 'text'> {
  const { baseline = '0', strike = 'noStrike' } = childOf(run, 'a:rPr')?.attributes ?? {};
  return { raised: Number.parseInt(baseline, 10) > 0, struck: strike !== 'noStrike' };
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
  if (run.name === 'mc:AlternateContent') return childrenOf(alternativesOf(run)[0]).map(runText).join('');
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
