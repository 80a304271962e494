import type { Block, Document } from '../../document.ts';
import { openPackage } from '../open-package.ts';
import { createStory, readStory, readTable } from './blocks.ts';
import { findWordParts } from './package-parts.ts';
import { createReader, type Reader } from './reader.ts';
import { childrenOf, findAll, parseXml, textOf } from './xml-tree.ts';

/**
 * Reads the visible text of a Word document. Tracked changes are accepted, comments are omitted, and notes and boxes
 * follow their paragraph. Headers and footers are read when the body has no text. Only parts of the file are opened, never
 * external references.
 */
export async function readDocx(bytes: Uint8Array): Promise<Document> {
  const file = await openPackage(bytes, 'docx');
  const reader = createReader(findWordParts(file), { readStory, readTable });
  const story = createStory(reader);
  parseXml(reader.parts.document, { of: 'w:body', take: story.take });
  const { title } = reader.parts;
  const body = story.end();
  const around = hasText(body) ? [] : readHeadersAndFooters(reader);
  if (around.length > 0) reader.warnings.add('The body has no text, so the headers and footers were read.');
  else countDropped(reader, 'headers_and_footers', ['header', 'footer']);
  countDropped(reader, 'comments', ['comments']);
  return {
    blocks: [...body, ...around],
    facts: { ...(title === undefined ? {} : { title }), dropped: reader.dropped },
    warnings: [...file.warnings, ...reader.warnings],
  };
}

function countDropped(reader: Reader, reason: keyof Reader['dropped'], kinds: readonly string[]): void {
  for (const part of kinds.flatMap((kind) => reader.parts.all(kind))) {
    for (const text of findAll(part, 'w:t')) reader.dropped[reason] += textOf(text).length;
  }
}

const hasText = (blocks: readonly Block[]) => blocks.some(({ text }) => text.trim() !== '');

/** Reads each text once, because the sections of a document often have the same header. */
function readHeadersAndFooters(reader: Reader): Block[] {
  const parts = ['header', 'footer'].flatMap((kind) => reader.parts.all(kind));
  const blocks = parts.flatMap((part) => readStory(reader, childrenOf(childrenOf(part)[0])));
  return [...new Map(blocks.filter((block) => hasText([block])).map((block) => [block.text, block])).values()];
}
