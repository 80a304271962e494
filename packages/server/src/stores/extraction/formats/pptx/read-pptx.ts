import type { Block, Document } from '../../document.ts';
import { fileDamaged, fileTypeMismatch } from '../../extraction-error.ts';
import { findMain, type Relationship, readRelationships } from '../docx/package-parts.ts';
import { childOf, childrenOf, findAll, parseXml, textOf, type XmlElement } from '../docx/xml-tree.ts';
import { listed } from '../numerals.ts';
import { openPackage } from '../open-package.ts';
import { readShapes, type SlideText } from './shapes.ts';

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
      ...(hidden.length === 0 ? [] : [`hidden_slides: These slides are hidden in the show: ${listed(hidden)}.`]),
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
