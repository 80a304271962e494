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
  const { get, names } = partsByName(file);
  const roots = [...readRelationships(get, '').values()];
  const main = roots.find((relationship) => relationship.kind === 'officeDocument');
  const name = main?.target ?? 'word/document.xml';
  const document = get(name);
  if (document === undefined) {
    const isOther = names.some((part) => /^(?:xl|ppt)\//.test(part));
    throw isOther ? fileTypeMismatch('Word', 'another Office format') : fileDamaged('Word', 'its text is missing');
  }
  const relationships = readRelationships(get, name);
  const parse = (target: string | null | undefined) => {
    const bytes = target === null || target === undefined ? undefined : get(target);
    return bytes === undefined ? undefined : parseXml(bytes);
  };
  const ofKind = (kind: string) => [...relationships.values()].filter((relationship) => relationship.kind === kind);
  return {
    document,
    title: readTitle(get, roots),
    relationships,
    find: (kind) => parse(ofKind(kind)[0]?.target),
    read: (id) => (id === undefined ? undefined : parse(relationships.get(id)?.target)),
    all: (kind) => ofKind(kind).flatMap(({ target }) => parse(target) ?? []),
  };
}

type GetPart = (name: string) => Uint8Array | undefined;

/** Finds parts by their names, whose case does not count. */
export function partsByName({ parts }: OfficePackage): { get: GetPart; names: string[] } {
  const byName = new Map([...parts].map(([name, bytes]) => [name.replaceAll('\\', '/').toLowerCase(), bytes]));
  return { get: (name) => byName.get(name.toLowerCase()), names: [...byName.keys()] };
}

/** Returns the title of a document. @param roots the relationships of the package */
export function readTitle(get: GetPart, roots: readonly Relationship[]): string | undefined {
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
    const inside = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
    found.set(Id, { kind: posix.basename(Type), target: TargetMode === 'External' ? null : inside });
  }
  return found;
}
