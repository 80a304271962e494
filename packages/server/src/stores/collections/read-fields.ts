import type { RankingWeights } from '@quartermaster/contract';
import { isJsonObject } from '../../platform/json/json-object.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import { holdsNul } from './problems.ts';

/**
 * Returns a text that can be stored: an unpaired surrogate is replaced.
 * @throws REQUEST_VALIDATION_ERROR when it contains U+0000, which PostgreSQL cannot store
 */
export function readText(text: string, path: string): string {
  if (text.includes('\0')) throw holdsNul(path);
  return text.toWellFormed();
}

/** The limit for one collection, record or chunk. Source: docs/contract.md "Collections, records, chunks". */
const mostMetadataBytes = 16 * 1024;

/**
 * Returns metadata that can be stored and searched. PostgreSQL rejects JSON with an unpaired surrogate, and one such
 * entry would fail every search with a filter. JSON.stringify escapes only unpaired surrogates.
 */
export function readMetadata<Metadata extends object>(metadata: Metadata): Metadata {
  const text = JSON.stringify(metadata);
  const bytes = Buffer.byteLength(text);
  if (bytes > mostMetadataBytes) {
    throw fieldInvalid('body/metadata', `${bytes} bytes`, `at most ${mostMetadataBytes} bytes of JSON`);
  }
  const wellFormed = text.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/g, (written, half) => (half ? '\\ufffd' : written));
  // Only characters differ; the members are the same.
  return wellFormed === text ? metadata : (parseJson(wellFormed) as Metadata);
}

/**
 * The body without the members that are null, at the top level and in `text_splitter`, whose members the official
 * client sends all, set or not: an explicit null means absent. docs/contract.md "Collections, records, chunks". Metadata keep theirs.
 */
export function withoutNulls(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  const { text_splitter: splitter, ...rest } = dropNulls(body);
  return splitter === undefined
    ? rest
    : { ...rest, text_splitter: isJsonObject(splitter) ? dropNulls(splitter) : splitter };
}

function dropNulls(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** @throws REQUEST_VALIDATION_ERROR when both rankings count nothing */
export function checkWeights(weights: RankingWeights | undefined, path: string): void {
  if (weights === undefined || weights.words > 0 || weights.vectors > 0) return;
  throw fieldInvalid(path, 'two weights of 0', 'at least one weight of more than 0');
}
