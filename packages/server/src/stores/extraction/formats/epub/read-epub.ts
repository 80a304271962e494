import { cut } from '../../cut-text.ts';
import type { Block, Document } from '../../document.ts';
import { fileDamaged, fileEncrypted, fileTypeMismatch } from '../../extraction-error.ts';
import { elementsOf, parseXml } from '../docx/xml-tree.ts';
import { readHtml } from '../html/read-html.ts';
import { type Archive, openArchive } from '../open-package.ts';
import { readPublication } from './publication.ts';

/** Methods that hide fonts only. Source: EPUB 3.3, "Font obfuscation". */
const fontMethods = ['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC'];

/**
 * Reads the chapters of a book in reading order. A chapter without a heading gets its title in the table of contents.
 * Scripts do not run, and no other file or address is opened.
 */
export async function readEpub(bytes: Uint8Array): Promise<Document> {
  const archive = await openArchive(bytes, 'EPUB');
  refuseEncrypted(archive);
  const { title, chapters, titles, navigation } = readPublication(archive);
  const blocks: Block[] = [];
  const warnings = new Set<string>();
  const missing: string[] = [];
  const dropped = { hidden: 0, embedded: 0, boilerplate: 0, table_of_contents: 0 };
  let read = 0;
  for (const name of chapters) {
    const part = archive.read(name);
    if (part === undefined) {
      missing.push(name);
      continue;
    }
    read += 1;
    const chapter = readHtml(withoutDeclarations(part), 'utf-8');
    for (const warning of chapter.warnings) warnings.add(warning);
    if (name === navigation) {
      dropped.table_of_contents += chapter.blocks.reduce((sum, { text }) => sum + text.length, 0);
      continue;
    }
    for (const reason of ['hidden', 'embedded', 'boilerplate'] as const)
      dropped[reason] += chapter.facts.dropped?.[reason] ?? 0;
    const chapterTitle = titles.get(name) ?? '';
    const isTitled = chapter.blocks.some(({ kind }) => kind === 'heading') || chapterTitle === '';
    if (!isTitled) blocks.push({ kind: 'heading', level: 1, text: chapterTitle });
    for (const block of chapter.blocks) blocks.push(block);
  }
  if (read === 0) throw fileDamaged('EPUB', 'none of its chapters is in the file');
  return {
    blocks,
    facts: { ...(title === undefined ? {} : { title: cut(title, 500) }), dropped },
    warnings: [...[...warnings].slice(0, mostWarnings), ...describeMissing(missing)],
  };
}

/**
 * Cuts the declarations out of a document type, which a parser of HTML takes for text. Entities that they declare are not
 * expanded.
 */
function withoutDeclarations(part: Uint8Array): Uint8Array {
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  const start = bytes.indexOf('<!DOCTYPE');
  const open = start === -1 ? -1 : bytes.indexOf('[', start);
  if (open === -1 || bytes.subarray(start, open).includes('>')) return part;
  const end = bytes.indexOf(']', open);
  return end === -1 ? part : Buffer.concat([bytes.subarray(0, open), bytes.subarray(end + 1)]);
}

const mostWarnings = 20;

function describeMissing(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, mostWarnings).map((name) => JSON.stringify(cut(name, 100)));
  const more = names.length > mostWarnings ? ` and ${names.length - mostWarnings} more` : '';
  return [`missing_chapters: These chapters are not in the file: ${shown.join(', ')}${more}.`];
}

/** A book may hide its fonts, but not its text. */
function refuseEncrypted(archive: Archive): void {
  if (archive.read('mimetype') === undefined && archive.read('META-INF/container.xml') === undefined)
    throw fileTypeMismatch('EPUB', 'another kind of zip file');
  const list = archive.read('META-INF/encryption.xml');
  if (list === undefined) return;
  const methods = [...elementsOf(parseXml(list), 'EncryptionMethod')].map(
    ({ attributes }) => attributes.Algorithm ?? '',
  );
  if (methods.some((method) => !fontMethods.includes(method))) throw fileEncrypted('EPUB');
}
