import type { Block } from '../../document.ts';
import { createNumbering, type Numbering } from './numbering.ts';
import type { WordParts } from './package-parts.ts';
import { readStyles, type Styles } from './styles.ts';
import { childOf, childrenOf, type XmlElement } from './xml-tree.ts';

/** State that all readers of one document share. */
export interface Reader {
  readonly parts: WordParts;
  readonly styles: Styles;
  readonly numbering: Numbering;
  readonly notes: Notes;
  readonly warnings: Set<string>;
  /** Characters of the file that are not part of the text, by reason. */
  readonly dropped: Record<'deleted' | 'hidden' | 'comments' | 'headers_and_footers', number>;
  readonly stories: Stories;
  /** The nesting depth of tables, notes and boxes. */
  depth: number;
  /** The number of open boxes, cells and pages that may have another colour than white. */
  backdrops: number;
}

/** Reads content attached to a paragraph, which can contain paragraphs itself. */
export interface Stories {
  readStory(reader: Reader, elements: readonly XmlElement[]): Block[];
  readTable(reader: Reader, table: XmlElement): Block[];
}

/** Footnotes and endnotes are numbered in the order of their marks. */
export interface Notes {
  /** The number of the note, and its content when it is first requested. */
  take(kind: NoteKind, id: string): { readonly number: number; readonly content: readonly XmlElement[] } | undefined;
}
export type NoteKind = 'footnote' | 'endnote';

export const deepestStory = 20;

export function createReader(parts: WordParts, stories: Stories): Reader {
  const styles = readStyles(parts.find('styles'));
  return {
    parts,
    styles,
    numbering: createNumbering(parts.find('numbering'), styles),
    notes: createNotes(parts),
    warnings: new Set(),
    dropped: { deleted: 0, hidden: 0, comments: 0, headers_and_footers: 0 },
    stories,
    depth: 0,
    backdrops: hasBackdrop(parts.document) ? 1 : 0,
  };
}

/** Whether the pages have a colour, or a picture lies behind their text. */
function hasBackdrop(document: Uint8Array): boolean {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.length);
  return (
    bytes.includes(':background ') ||
    bytes.includes('behindDoc="1"') ||
    bytes.includes('behindDoc="true"') ||
    bytes.includes('z-index:-')
  );
}

function createNotes(parts: WordParts): Notes {
  const known = new Map<NoteKind, Map<string, XmlElement>>();
  const numbers = new Map<string, number>();

  function load(kind: NoteKind): Map<string, XmlElement> {
    const loaded = known.get(kind);
    if (loaded !== undefined) return loaded;
    const notes = childrenOf(childOf(parts.find(`${kind}s`), `w:${kind}s`), `w:${kind}`);
    const byId = new Map(notes.map((note) => [note.attributes.id ?? '', note]));
    known.set(kind, byId);
    return byId;
  }

  return {
    take: (kind, id) => {
      const note = load(kind).get(id);
      if (note === undefined) return undefined;
      const key = `${kind} ${id}`;
      const number = numbers.get(key);
      if (number !== undefined) return { number, content: [] };
      numbers.set(key, numbers.size + 1);
      return { number: numbers.size, content: childrenOf(note) };
    },
  };
}

/** Reads what may stand on another colour than white. */
export function withBackdrop<T>(reader: Reader, isBacked: boolean, read: () => T): T {
  reader.backdrops += isBacked ? 1 : 0;
  const found = read();
  reader.backdrops -= isBacked ? 1 : 0;
  return found;
}

/** Converts rows to a block; blank rows are omitted. */
export function tableBlock(rows: readonly (readonly string[])[], headerRows = 1): Block | undefined {
  const lines = rows
    .map((cells) => cells.map((cell) => cell.replace(/\s+/g, ' ').trim()))
    .filter((cells) => cells.some((cell) => cell !== ''))
    .map((cells) => cells.join(' | '));
  return lines.length === 0 ? undefined : { kind: 'table', text: lines.join('\n'), headerRows };
}
