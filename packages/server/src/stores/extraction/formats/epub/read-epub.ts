import { posix } from 'node:path';
import { cut } from '../../cut-text.ts';
import type { Block, Document } from '../../document.ts';
import { fileDamaged, fileEncrypted, fileTypeMismatch } from '../../extraction-error.ts';
import { describeCutParts, endsOf } from '../cut-parts.ts';
import { childrenOf, elementsOf, findAll, localName, parseXml, textOf, type XmlElement } from '../docx/xml-tree.ts';
import { readHtml } from '../html/read-html.ts';
import { type Archive, openArchive } from '../open-package.ts';

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
  const parts: (readonly [string, Uint8Array])[] = [];
  const dropped = { hidden: 0, embedded: 0, boilerplate: 0, table_of_contents: 0 };
  let read = 0;
  for (const name of chapters) {
    const part = archive.take(name);
    if (part === undefined) {
      missing.push(name);
      continue;
    }
    read += 1;
    parts.push([name, endsOf(part)]);
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
    warnings: [...[...warnings].slice(0, mostWarnings), ...describeCutParts(parts), ...describeMissing(missing)],
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

interface Publication {
  readonly title: string | undefined;
  /** The entries of the chapters, in reading order, each once. */
  readonly chapters: readonly string[];
  /** The titles of chapters in the table of contents, by entry. */
  readonly titles: ReadonlyMap<string, string>;
  /** The entry of the table of contents, when it is a chapter, too. */
  readonly navigation: string | undefined;
}

/**
 * Reads the list of the contents of a book. Source: EPUB 3.3, "Package document"; Open Packaging Format 2.0.1.
 * @throws ExtractionError when it is missing
 */
function readPublication(archive: Archive): Publication {
  const container = parse(archive, 'META-INF/container.xml');
  const [root] = elementsOf(container, 'rootfile');
  const name = root?.attributes['full-path'] ?? archive.names.find((entry) => entry.endsWith('.opf'));
  const book = name === undefined ? undefined : parse(archive, name);
  if (name === undefined || book === undefined) throw fileDamaged('EPUB', 'its list of contents is missing');
  const items = [...elementsOf(book, 'item')].map(({ attributes }) => ({
    id: attributes.id ?? '',
    entry: resolve(name, attributes.href ?? ''),
    kind: attributes['media-type'] ?? '',
    properties: (attributes.properties ?? '').split(/\s+/),
  }));
  const byId = new Map(items.map((item) => [item.id, item]));
  const references = [...elementsOf(book, 'itemref')];
  // Notes and answers that the reading order skips follow at the end.
  const isAside = ({ attributes }: XmlElement) => attributes.linear === 'no';
  const ordered = [...references.filter((one) => !isAside(one)), ...references.filter(isAside)];
  const chapters = new Set(ordered.map(({ attributes }) => byId.get(attributes.idref ?? '')?.entry ?? ''));
  const navigation = items.find(({ properties }) => properties.includes('nav'))?.entry;
  const tables = [navigation, items.find(({ kind }) => kind === 'application/x-dtbncx+xml')?.entry];
  const titles = new Map<string, string>();
  for (const table of tables) {
    const tree = table === undefined ? undefined : parse(archive, table);
    if (table !== undefined && tree !== undefined) learnTitles(titles, tree, table);
  }
  const [title] = findAll(book, 'dc:title');
  return {
    title: title === undefined ? undefined : textOf(title).trim() || undefined,
    chapters: [...chapters].filter((entry) => entry !== ''),
    titles,
    navigation,
  };
}

/** A link of the navigation document, or a point of the older table, names a chapter. The first name counts. */
function learnTitles(titles: Map<string, string>, tree: XmlElement, table: string): void {
  const learn = (href: string | undefined, text: string | undefined) => {
    const entry = resolve(table, href ?? '');
    const title = (text ?? '').replace(/\s+/g, ' ').trim();
    if (title !== '' && !titles.has(entry)) titles.set(entry, title);
  };
  for (const link of elementsOf(tree, 'a')) learn(link.attributes.href, textOf(link));
  for (const point of elementsOf(tree, 'navPoint')) {
    const content = childrenOf(point).find((child) => localName(child) === 'content');
    const label = childrenOf(point).find((child) => localName(child) === 'navLabel');
    learn(content?.attributes.src, label === undefined ? undefined : textOf(label));
  }
}

function parse(archive: Archive, name: string): XmlElement | undefined {
  const part = archive.read(name);
  return part === undefined ? undefined : parseXml(part);
}

/** Returns the entry that a reference in another entry names, without its fragment. */
function resolve(from: string, reference: string): string {
  const [path = ''] = reference.split('#', 1);
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // The name has a percent sign that is no escape.
  }
  return decoded === '' ? '' : posix.join(posix.dirname(from), decoded);
}
