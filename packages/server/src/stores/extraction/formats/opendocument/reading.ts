import { findAll, type XmlElement } from '../docx/xml-tree.ts';
import { createListLabels, type ListLabels, type OpenList } from './list-labels.ts';
import type { OpenDocument } from './package-text.ts';
import {
  createFills,
  type Fills,
  findLooks,
  hasBackdrop,
  type PaperLook,
  plainLook,
  type TextLook,
} from './text-look.ts';

/** What all readers of one document share. */
export interface Reading {
  readonly document: OpenDocument;
  readonly labels: ListLabels;
  /** The lists by their ids, which others continue. */
  readonly lists: Map<string, OpenList>;
  readonly titleStyles: ReadonlySet<string>;
  readonly looks: ReadonlyMap<string, TextLook>;
  /** The colours of sections and of tables, their rows and their cells. */
  readonly fills: Fills;
  /** Characters that are not part of the text, by reason. */
  readonly dropped: Record<'deleted' | 'hidden' | 'comments' | 'headers_and_footers', number>;
  readonly warnings: Set<string>;
  notes: number;
  depth: number;
  /** The number of open boxes, cells and pages that may have another colour than white. */
  backdrops: number;
  /** How the text at this place looks. */
  run: PaperLook;
}

export function startReading(document: OpenDocument): Reading {
  return {
    document,
    labels: createListLabels(document.styles),
    lists: new Map(),
    titleStyles: findTitleStyles(document.styles),
    looks: findLooks(document.styles, 'paragraph', 'text'),
    fills: createFills(document.styles, 'section', 'table', 'table-row', 'table-cell'),
    dropped: { deleted: 0, hidden: 0, comments: 0, headers_and_footers: 0 },
    warnings: new Set(),
    notes: 0,
    depth: 0,
    backdrops: hasBackdrop(document.styles) ? 1 : 0,
    run: plainLook,
  };
}

/** Returns the style `Title` and those that an author has derived from it. */
function findTitleStyles(styles: readonly XmlElement[]): ReadonlySet<string> {
  const derived = styles
    .flatMap((each) => [...findAll(each, 'style:style')])
    .filter(({ attributes }) => attributes['style:parent-style-name'] === 'Title');
  return new Set(['Title', ...derived.map(({ attributes }) => attributes['style:name'] ?? '')]);
}

/** Reads what may stand on another colour than white. */
export function withBackdrop<T>(reading: Reading, isBacked: boolean, read: () => T): T {
  reading.backdrops += isBacked ? 1 : 0;
  const found = read();
  reading.backdrops -= isBacked ? 1 : 0;
  return found;
}

/** Reads text of a look. A colour behind the text around it stays. */
export function withRun(reading: Reading, look: PaperLook, read: () => void): void {
  const around = reading.run;
  reading.run =
    look === plainLook
      ? plainLook
      : {
          white: look.white ?? around.white,
          backed: look.backed === true || around.backed,
          tiny: look.tiny ?? around.tiny,
        };
  read();
  reading.run = around;
}

/** Whether people cannot see the text at this place: it is white on white, or smaller than they can read. */
export function isUnseen({ backdrops, run }: Reading): boolean {
  return run.tiny === true || (run.white === true && run.backed !== true && backdrops === 0);
}
