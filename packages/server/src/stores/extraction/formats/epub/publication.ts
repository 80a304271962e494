import { posix } from 'node:path';
import { fileDamaged } from '../../extraction-error.ts';
import { childrenOf, elementsOf, findAll, localName, parseXml, textOf, type XmlElement } from '../docx/xml-tree.ts';
import type { Archive } from '../open-package.ts';

export interface Publication {
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
export function readPublication(archive: Archive): Publication {
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
