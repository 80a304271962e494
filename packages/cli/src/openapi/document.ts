import { upgrade } from '@scalar/openapi-upgrader';
import { parse } from 'yaml';

export type Json = Readonly<Record<string, unknown>>;

/** An OpenAPI document of any version, as 3.1, with its references to follow. */
export interface OpenApiDocument {
  /** As the document says it: `2.0`, `3.0.3`, `3.1.0`. */
  readonly version: string;
  readonly root: Json;
  /** What a `#/…` reference points at, through further references; undefined when there is none. */
  resolve(reference: string): unknown;
  /** The value itself, or what it refers to when it is a reference. */
  follow(value: unknown): unknown;
}

/** @throws Error that names what is not supported */
export function readDocument(text: string): OpenApiDocument {
  const parsed = parseText(text);
  if (!isJson(parsed)) throw new Error('The document must be a JSON or YAML object.');
  const version = parsed.openapi ?? parsed.swagger;
  if (typeof version !== 'string' || !/^(2\.0|3\.[01])/.test(version)) {
    throw new Error(
      `The document must be OpenAPI 2.0, 3.0 or 3.1; received ${JSON.stringify(version ?? 'no version')}.`,
    );
  }
  // The upgrader changes what it is given.
  const root: unknown = upgrade(structuredClone(parsed), '3.1');
  if (!isJson(root)) throw new Error('The document cannot be converted to OpenAPI 3.1. Check it with a validator.');
  return documentOf(version, root);
}

/** Anything whose references lead into itself. */
export function documentOf(version: string, root: Json): OpenApiDocument {
  const resolve = (reference: string, seen: readonly string[] = []): unknown => {
    if (seen.includes(reference)) return undefined;
    const target = lookUp(root, reference);
    return isReference(target) ? resolve(target.$ref, [...seen, reference]) : target;
  };
  return {
    version,
    root,
    resolve: (reference) => resolve(reference),
    follow: (value) => (isReference(value) ? resolve(value.$ref) : value),
  };
}

function parseText(text: string): unknown {
  try {
    // JSON by itself: it is a hundred times faster, and large documents are JSON.
    return JSON.parse(text);
  } catch {
    return parse(text, { maxAliasCount: 1_000 });
  }
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isReference(value: unknown): value is Json & { readonly $ref: string } {
  return isJson(value) && typeof value.$ref === 'string';
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function lookUp(root: Json, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const escaped of reference.slice(2).split('/')) {
    const segment = decode(escaped).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = Reflect.get(value, segment);
  }
  return value;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
