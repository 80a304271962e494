import type { Document } from '../../document.ts';
import { openPackage } from '../open-package.ts';
import { createStory, readStory, readTable } from './blocks.ts';
import { findWordParts } from './package-parts.ts';
import { createReader, type Reader } from './reader.ts';
import { findAll, parseXml, textOf } from './xml-tree.ts';

/**
 * Reads the visible text of a Word document. Tracked changes are accepted, comments are omitted, and notes and boxes
 * follow their paragraph. Only parts of the file are opened, never external references.
 */
export function readDocx(bytes: Uint8Array): Document {
  const reader = createReader(findWordParts(openPackage(bytes, 'docx')), { readStory, readTable });
  const story = createStory(reader);
  parseXml(reader.parts.document, { of: 'w:body', take: story.take });
  const { title } = reader.parts;
  countDropped(reader, 'headers_and_footers', ['header', 'footer']);
  countDropped(reader, 'comments', ['comments']);
  return {
    blocks: story.end(),
    facts: { ...(title === undefined ? {} : { title }), dropped: reader.dropped },
    warnings: [...reader.warnings],
  };
}

function countDropped(reader: Reader, reason: keyof Reader['dropped'], kinds: readonly string[]): void {
  for (const part of kinds.flatMap((kind) => reader.parts.all(kind))) {
    for (const text of findAll(part, 'w:t')) reader.dropped[reason] += textOf(text).length;
  }
}
