import { subschemasOf } from './schema/subschemas.ts';

/** A stored file that an input names instead of containing its bytes. Source: ADR 0102. */
export interface FileReference {
  readonly kind: 'file' | 'artifact';
  readonly id: string;
}

const kinds = ['file', 'artifact'] as const;
const idShape = '[a-z]{4}[a-z0-9]{20}';
const referencePattern = `^(?:${kinds.join('|')}):${idShape}$`;
const [shortest, longest] = ['file:'.length + 24, 'artifact:'.length + 24];

/** More characters than the head of a reference has: a data URL with its media type, and the kind. */
const longestHead = 256;

/**
 * Reads `file:` or `artifact:` and an id. Models copy the placeholder of an output with the head of its data URL, with spaces or with
 * capital letters, so these are ignored. No base64 has a colon.
 */
export function readFileReference(text: string): FileReference | undefined {
  const start = text.slice(0, longestHead).trimStart().toLowerCase();
  const head = start.startsWith('data:') ? start.slice(0, start.indexOf(dataUrlMark) + dataUrlMark.length) : '';
  if (head !== '' && !head.endsWith(dataUrlMark)) return undefined;
  const rest = text.trimStart().slice(head.length).trimStart();
  const kind = kinds.find((one) => rest.slice(0, one.length + 1).toLowerCase() === `${one}:`);
  return kind === undefined ? undefined : { kind, id: rest.slice(kind.length + 1).trim() };
}

const dataUrlMark = ';base64,';

/** Whether a schema describes file content: a text that `contentEncoding` declares as base64. */
export function isFileContent({ contentEncoding }: Readonly<Record<string, unknown>>): boolean {
  return contentEncoding === 'base64';
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** The format of a reference, for {@link exemptReferences}. */
export const referenceFormat = 'file-reference';

/**
 * Returns the schema that runs check inputs against, before references are replaced by base64: the rules about the characters of file
 * content do not apply to a reference.
 */
export function exemptReferences<Schema extends JsonSchema>(schema: Schema): Schema {
  if (!describesFileContent(schema)) return schema;
  const copy = structuredClone(schema);
  for (const node of markedIn(copy)) exempt(node);
  return copy;
}

const contentRules = ['pattern', 'format', 'minLength', 'maxLength'] as const;

function exempt(node: Record<string, unknown>): void {
  const rules = contentRules.filter((rule) => node[rule] !== undefined).map((rule) => [rule, node[rule]]);
  if (rules.length === 0) return;
  for (const rule of contentRules) delete node[rule];
  const others = Array.isArray(node.allOf) ? node.allOf : [];
  node.allOf = [...others, { if: { format: referenceFormat }, else: Object.fromEntries(rules) }];
}

/**
 * Returns the schema of an input as clients see it: what describes file content accepts a reference too. Runs check inputs
 * against {@link exemptReferences}.
 */
export function withFileReferences<Schema extends JsonSchema>(schema: Schema): Schema {
  if (!describesFileContent(schema)) return schema;
  const copy = structuredClone(schema);
  for (const node of markedIn(copy)) Object.assign(node, acceptReferences(node));
  return copy;
}

/** Whether a part of the schema describes file content. */
export function describesFileContent(schema: JsonSchema): boolean {
  return markedIn(schema).length > 0;
}

function markedIn(schema: JsonSchema): JsonSchema[] {
  return [...subschemasOf(schema, [])].flatMap(({ schema: node }) =>
    typeof node !== 'boolean' && isFileContent(node) ? [node] : [],
  );
}

const hint = 'Or `file:` and a file_id, or `artifact:` and an artifact_id.';

function acceptReferences({ pattern, minLength, maxLength, description }: JsonSchema): JsonSchema {
  return {
    ...(typeof pattern === 'string' ? { pattern: `${referencePattern}|${pattern}` } : {}),
    ...(typeof minLength === 'number' ? { minLength: Math.min(minLength, shortest) } : {}),
    ...(typeof maxLength === 'number' ? { maxLength: Math.max(maxLength, longest) } : {}),
    description: typeof description === 'string' ? `${description} ${hint}` : hint,
  };
}
