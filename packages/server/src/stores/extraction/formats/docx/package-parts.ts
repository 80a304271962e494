import { posix } from 'node:path';
import { fileDamaged, fileTypeMismatch } from '../../extraction-error.ts';
import type { OfficePackage } from '../open-package.ts';
import { childrenOf, findAll, parseXml, textOf, type XmlElement } from './xml-tree.ts';

export interface Relationship {
  /** The last part of the type: `officeDocument`, `styles`, `chart`, … */
  readonly kind: string;
  /** The name of the part; null when it is outside the file. Nothing outside the file is opened. */
  readonly target: string | null;
}

export interface WordParts {
  readonly document: Uint8Array;
  /** The title of the document. */
  readonly title: string | undefined;
  /** The relationships of the document by id. */
  readonly relationships: ReadonlyMap<string, Relationship>;
  /** The first related part of the kind, parsed. */
  find(kind: string): XmlElement | undefined;
  /** The part that a relationship of the document names, parsed. */
  read(id: string | undefined): XmlElement | undefined;
  /** All related parts of the kind. */
  all(kind: string): XmlElement[];
}

/** @throws ExtractionError when the package holds no Word document. */
export function findWordParts(file: OfficePackage): WordParts {
  const { get, names, main: document, relationships, title } = findMain(file, 'word/document.xml');
  if (document === undefined) {
    const isOther = names.some((part) => /^(?:xl|ppt)\//.test(part));
    throw isOther ? fileTypeMismatch('Word', 'another Office format') : fileDamaged('Word', 'its text is missing');
  }
  const parse = (target: string | null | undefined) => {
    const bytes = target === null || target === undefined ? undefined : get(target);
    return bytes === undefined ? undefined : parseXml(bytes);
  };
  const ofKind = (kind: string) => [...relationships.values()].filter((relationship) => relationship.kind === kind);
  return {
    document,
    title,
    relationships,
    find: (kind) => parse(ofKind(kind)[0]?.target),
    read: (id) => (id === undefined ? undefined : parse(relationships.get(id)?.target)),
    all: (kind) => ofKind(kind).flatMap(({ target }) => parse(target) ?? []),
  };
}

type GetPart = (name: string) => Uint8Array | undefined;

/**
 * Finds the main part of a file, and how to get its other parts by their names, whose case does not count.
 * @param usual the name of the main part when the file does not name it
 */
export function findMain({ parts }: OfficePackage, usual: string) {
  const byName = new Map([...parts].map(([name, bytes]) => [name.replaceAll('\\', '/').toLowerCase(), bytes]));
  const get = (name: string) => byName.get(name.toLowerCase());
  const roots = [...readRelationships(get, '').values()];
  const name = roots.find(({ kind }) => kind === 'officeDocument')?.target ?? usual;
  const relationships = readRelationships(get, name);
  return { get, names: [...byName.keys()], main: get(name), relationships, title: readTitle(get, roots) };
}

/** Returns the title of a document. @param roots the relationships of the package */
function readTitle(get: GetPart, roots: readonly Relationship[]): string | undefined {
  const target = roots.find(({ kind }) => kind === 'core-properties')?.target ?? '';
  const properties = get(target);
  const [title] = properties === undefined ? [] : findAll(parseXml(properties), 'dc:title');
  return title === undefined ? undefined : textOf(title).trim() || undefined;
}

/** Returns the relationships of a part by id; those of the package for an empty name. */
export function readRelationships(get: GetPart, of: string): Map<string, Relationship> {
  const folder = posix.dirname(of);
  const bytes = get(posix.join(folder, '_rels', `${posix.basename(of)}.rels`));
  const found = new Map<string, Relationship>();
  if (bytes === undefined) return found;
  for (const { attributes } of childrenOf(childrenOf(parseXml(bytes))[0])) {
    const { Id = '', Type = '', Target = '', TargetMode } = attributes;
    const inside = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target.replaceAll('\\', '/'));
    found.set(Id, { kind: posix.basename(Type), target: TargetMode === 'External' ? null : inside });
  }
  return found;
}
