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
import { sentenceWithoutPath, toErrorDetail } from '../../kernel/validation/validation-error.ts';
import { copyJson } from '../schema/copy-json.ts';
import type { FieldPath } from './findings.ts';

/** A YAML file as JSON data that still knows its lines. */
export interface YamlFile {
  readonly value: unknown;
  /** Line (from 1) of the value at a path; of its nearest ancestor when it is missing. */
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
const maxMistakes = 5;

export type ReadYaml = (text: string) => YamlFile | { readonly mistakes: readonly YamlError[] };

/** Reads one document of YAML 1.2 (core schema): no tags, no duplicate names, few aliases, nothing but JSON data. */
export function readYaml(text: string): ReturnType<ReadYaml> {
  const lineCounter = new LineCounter();
  try {
    const document = parseDocument(text, {
      lineCounter,
      strict: true,
      // The parser's own ways cost the square of the names, and of the mistakes.
      uniqueKeys: false,
      prettyErrors: false,
      version: '1.2',
      schema: 'core',
    });
    const mistakes = [...mistakesOf(document, lineCounter), ...findRefused(document, lineCounter)];
    if (mistakes.length > 0) return { mistakes: mistakes.slice(0, maxMistakes) };
    const lineOf = (path: FieldPath) => lineAt(document, lineCounter, path);
    const copied = copyJson<unknown>(document.toJS({ maxAliasCount: maxAliases }), bounds);
    if ('copy' in copied) return { value: copied.copy, lineOf };
    const { segments } = copied.refusal;
    const message = sentenceWithoutPath(toErrorDetail(copied.refusal));
    return { mistakes: [{ line: lineOf(segments), path: segments, message }] };
  } catch (error) {
    // Unresolved and too many aliases are thrown, as is an exhausted stack.
    const message = error instanceof Error ? firstLine(error.message) : 'It cannot be read.';
    return { mistakes: [{ line: null, path: [], message }] };
  }
}

function mistakesOf(document: Document, lineCounter: LineCounter): YamlError[] {
  // A tag that means nothing is a warning; findRefused reports every tag.
  const warnings = document.warnings.filter(({ code }) => code !== 'TAG_RESOLVE_FAILED');
  return [...document.errors, ...warnings].slice(0, maxMistakes).map(({ pos: [start], message }) => ({
    path: [],
    line: start < 0 ? null : lineCounter.linePos(start).line,
    message: firstLine(message),
  }));
}

/** What YAML allows and a bundle does not. */
function findRefused(document: Document, lineCounter: LineCounter): YamlError[] {
  const mistakes: YamlError[] = [];
  const refuse = (node: unknown, message: string) => {
    mistakes.push({ line: lineOfNode(node, lineCounter) ?? null, path: [], message });
  };
  visit(document, {
    Node: (_key, node) => {
      // A tag could make something other than JSON data (a Set, bytes).
      if (!isAlias(node) && node.tag !== undefined) refuse(node, `Tags are not allowed, found ${node.tag}.`);
      if (isMap(node)) refuseNames(node, refuse);
      return mistakes.length < maxMistakes ? undefined : visit.BREAK;
    },
  });
  return mistakes;
}

/** Names as JSON has them: texts, each once. */
function refuseNames({ items }: YAMLMap, refuse: (node: unknown, message: string) => void): void {
  const names = new Set<string>();
  for (const { key } of items) {
    if (!isScalar(key) || key.value === null) refuse(key, 'The name of a member is no text.');
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

/** A member is where its name stands; an item is where it starts. */
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
  // Whatever the parser made has a range; a node built by hand has none.
  const range = (node as Partial<Node> | null)?.range;
  return range ? lineCounter.linePos(range[0]).line : undefined;
}
