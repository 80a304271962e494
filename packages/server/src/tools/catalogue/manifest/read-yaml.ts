import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import { sentenceWithoutPath, toErrorDetail } from '../../../platform/validation/validation-error.ts';
import { copyJson } from '../schema/copy-json.ts';
import type { FieldPath } from '../schema/error-collector.ts';

/** The JSON data of a YAML file, with line numbers. */
export interface YamlFile {
  readonly value: unknown;
  /** The line (from 1) of the value at a path, or of its nearest existing ancestor. */
  lineOf(path: FieldPath): number;
}

export interface YamlError {
  readonly line: number | null;
  /** Empty for the file as a whole. */
  readonly path: FieldPath;
  /** A sentence. */
  readonly message: string;
}

const maxAliases = 100;
const bounds = { maxDepth: 64, maxNodes: 50_000 };
const maxErrors = 5;

export type ReadYaml = (text: string) => YamlFile | { readonly errors: readonly YamlError[] };

/** Parses one document of YAML 1.2 (core schema). Only JSON data is allowed: no tags, no duplicate names, few aliases. */
export function readYaml(text: string): ReturnType<ReadYaml> {
  const lineCounter = new LineCounter();
  try {
    const document = parseDocument(text, {
      lineCounter,
      strict: true,
      // These options of the parser take quadratic time for many names or errors.
      uniqueKeys: false,
      prettyErrors: false,
      version: '1.2',
      schema: 'core',
    });
    const errors = [...errorsOf(document, lineCounter), ...findRefused(document, lineCounter)];
    if (errors.length > 0) return { errors: errors.slice(0, maxErrors) };
    const lineOf = (path: FieldPath) => lineAt(document, lineCounter, path);
    const copied = copyJson<unknown>(document.toJS({ maxAliasCount: maxAliases }), bounds);
    if ('copy' in copied) return { value: copied.copy, lineOf };
    const { segments } = copied.refusal;
    const message = sentenceWithoutPath(toErrorDetail(copied.refusal));
    return { errors: [{ line: lineOf(segments), path: segments, message }] };
  } catch (error) {
    // The parser throws for unresolved or too many aliases and for an exhausted stack.
    const message = error instanceof Error ? firstLine(error.message) : 'The file cannot be read.';
    return { errors: [{ line: null, path: [], message }] };
  }
}

function errorsOf(document: Document, lineCounter: LineCounter): YamlError[] {
  // The parser warns about unknown tags; findRefused reports every tag.
  const warnings = document.warnings.filter(({ code }) => code !== 'TAG_RESOLVE_FAILED');
  return [...document.errors, ...warnings].slice(0, maxErrors).map(({ pos: [start], message }) => ({
    path: [],
    line: start < 0 ? null : lineCounter.linePos(start).line,
    message: firstLine(message),
  }));
}

/** Reports what YAML allows but a bundle must not contain. */
function findRefused(document: Document, lineCounter: LineCounter): YamlError[] {
  const errors: YamlError[] = [];
  const refuse = (node: unknown, message: string) => {
    errors.push({ line: lineOfNode(node, lineCounter) ?? null, path: [], message });
  };
  visit(document, {
    Node: (_key, node) => {
      // A tag could produce values that are not JSON data (a Set, bytes).
      if (!isAlias(node) && node.tag !== undefined) refuse(node, `Tags are not allowed; received ${node.tag}.`);
      if (isMap(node)) refuseNames(node, refuse);
      return errors.length < maxErrors ? undefined : visit.BREAK;
    },
  });
  return errors;
}

/** Checks that names are strings and unique, as in JSON. */
function refuseNames({ items }: YAMLMap, refuse: (node: unknown, message: string) => void): void {
  const names = new Set<string>();
  for (const { key } of items) {
    if (!isScalar(key) || key.value === null) refuse(key, 'Property names must be strings.');
    else if (names.has(String(key.value))) refuse(key, 'Map keys must be unique');
    else names.add(String(key.value));
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}

function lineAt(document: Document, lineCounter: LineCounter, path: FieldPath): number {
  let node: unknown = document.contents;
  let line = lineOfNode(node, lineCounter) ?? 1;
  for (const segment of path) {
    if (isAlias(node)) node = node.resolve(document);
    const next = stepInto(node, segment);
    if (next === undefined) break;
    line = lineOfNode(next.at, lineCounter) ?? line;
    node = next.value;
  }
  return line;
}

/** The position of a member is that of its name; the position of an item is its start. */
function stepInto(node: unknown, segment: string): { at: unknown; value: unknown } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === segment);
    return pair === undefined ? undefined : { at: pair.key, value: pair.value };
  }
  if (!isSeq(node)) return undefined;
  const item = node.items[Number(segment)];
  return item === undefined ? undefined : { at: item, value: item };
}

function lineOfNode(node: unknown, lineCounter: LineCounter): number | undefined {
  // Nodes of the parser have a range.
  const range = (node as Partial<Node> | null)?.range;
  return range ? lineCounter.linePos(range[0]).line : undefined;
}
