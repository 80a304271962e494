import type { IdComparison } from '@quartermaster/contract';
import type { ChunkFilter } from './chunk-index.ts';
import { markTerm } from './segments/term-kinds.ts';

/** What the filter terms of a chunk say. */
export interface FilteredChunk {
  /** Null for a chunk that was created directly. */
  readonly recordId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly recordMetadata: Readonly<Record<string, unknown>>;
}

/**
 * Chunks that may meet a filter: those with one of the terms, or those of all or of one of the parts. Every chunk that
 * meets the filter is among them; others may be, too.
 */
export type Restriction =
  | { readonly type: 'terms'; readonly terms: readonly string[] }
  | { readonly type: 'and' | 'or'; readonly parts: readonly Restriction[] };

/** A filter that names more values is not translated, because finding each of them takes longer than it saves. */
const mostTerms = 512;
/** Longer texts share a term when they begin alike. */
const longestText = 128;

/** Returns the terms of a chunk: one for its record, and one or two for each entry. An entry of the chunk replaces that of its record. */
export function listFilterTerms({ recordId, metadata, recordMetadata }: FilteredChunk): string[] {
  const terms = new Set<string>(recordId === null ? [] : [recordTerm(recordId)]);
  for (const [key, value] of Object.entries({ ...recordMetadata, ...metadata })) {
    if (typeof value === 'string') {
      terms.add(textTerm(key, value));
      if (isNumber(value)) terms.add(numberTerm(key, Number(value)));
    } else if (typeof value === 'number') terms.add(numberTerm(key, value));
    else if (typeof value === 'boolean') terms.add(entryTerm('b', key, String(value)));
  }
  return [...terms];
}

/** Returns the term of the chunks of a record. */
export function recordTerm(recordId: string): string {
  return markTerm('filter', `r${recordId}`);
}

/** Records that are found by their terms, each of which takes time. */
export const mostAllowedRecords = 64;

/** Adds the chunks of records. With more than `mostAllowedRecords` there is no restriction. */
export function allowRecords(restriction: Restriction, recordIds: readonly string[]): Restriction | null {
  if (recordIds.length === 0) return restriction;
  if (recordIds.length > mostAllowedRecords) return null;
  return { type: 'or', parts: [restriction, { type: 'terms', terms: recordIds.map(recordTerm) }] };
}

/** A record of a collection, and the file that it names. */
export interface RecordOfFile {
  readonly recordId: string;
  readonly fileId: string;
}

/** The maximum number of files of a filter whose records are looked up, and of these records. */
export const mostRecordsOfFiles = mostTerms;

/** Returns the files whose records `toRestriction` needs; null when there are more than `mostRecordsOfFiles`. */
export function listFiles(filter: ChunkFilter): readonly string[] | null {
  const files = new Set(findFiles(filter));
  return files.size <= mostRecordsOfFiles ? [...files] : null;
}

function findFiles(filter: ChunkFilter): string[] {
  if ('filters' in filter) return filter.filters.flatMap(findFiles);
  const isFound = 'field' in filter && filter.field === 'file_id' && (filter.type === 'eq' || filter.type === 'in');
  return isFound ? [filter.value].flat() : [];
}

/**
 * Translates `eq`, `in`, and groups that contain them. The other conditions of an `and` are left out.
 * @param ofFiles the records of the files that `listFiles` returns; null when there are more than `mostRecordsOfFiles`
 * @returns null when chunks cannot be found by terms
 */
export function toRestriction(filter: ChunkFilter, ofFiles: readonly RecordOfFile[] | null): Restriction | null {
  const records = ofFiles && Map.groupBy(ofFiles, ({ fileId }) => fileId);
  const restriction = translate(filter, records);
  return restriction !== null && countTerms(restriction) <= mostTerms ? restriction : null;
}

/** The records by the file that they name; null when there are too many. */
type RecordsByFile = ReadonlyMap<string, readonly RecordOfFile[]> | null;

function translate(filter: ChunkFilter, records: RecordsByFile): Restriction | null {
  if ('field' in filter) return translateIds(filter, records);
  switch (filter.type) {
    case 'and': {
      const parts = filter.filters.map((part) => translate(part, records)).filter((part) => part !== null);
      return parts.length === 0 ? null : { type: 'and', parts };
    }
    case 'or': {
      const parts = filter.filters.map((part) => translate(part, records));
      return parts.every((part) => part !== null) ? { type: 'or', parts } : null;
    }
    case 'eq':
      return { type: 'terms', terms: termsOf(filter.key, filter.value) };
    case 'in':
      return { type: 'terms', terms: [...new Set(filter.value.flatMap((value) => termsOf(filter.key, value)))] };
    default:
      return null;
  }
}

function translateIds({ type, field, value }: IdComparison, records: RecordsByFile): Restriction | null {
  if (type === 'ne' || type === 'nin') return null;
  const ids = new Set([value].flat());
  if (field === 'record_id') return { type: 'terms', terms: [...ids].map(recordTerm) };
  if (records === null) return null;
  const ofFiles = [...ids].flatMap((id) => records.get(id) ?? []);
  return { type: 'terms', terms: ofFiles.map(({ recordId }) => recordTerm(recordId)) };
}

function countTerms(restriction: Restriction): number {
  if (restriction.type === 'terms') return restriction.terms.length;
  return restriction.parts.reduce((sum, part) => sum + countTerms(part), 0);
}

/** Returns the terms of the entries that equal a value. */
function termsOf(key: string, value: string | number | boolean): string[] {
  if (typeof value === 'string') return [textTerm(key, value)];
  if (typeof value === 'boolean') return [entryTerm('b', key, String(value))];
  return [...new Set([1 - tolerance, 1, 1 + tolerance].map((factor) => numberTerm(key, value * factor)))];
}

const textTerm = (key: string, value: string) => entryTerm('t', key, value);
const numberTerm = (key: string, value: number) => entryTerm('n', key, roundNumber(value));

function entryTerm(kind: 't' | 'n' | 'b', key: string, value: string): string {
  return markTerm('filter', `${kind}${cut(key)}\u0001${cut(value)}`);
}

const unstorable = /[\0\ufffd]/;

/** The databases read NUL and half of a surrogate pair differently, so that a text is cut there. */
function cut(text: string): string {
  const formed = text.slice(0, longestText).toWellFormed();
  const end = formed.search(unstorable);
  return end < 0 ? formed : formed.slice(0, end);
}

/** A database may read the digits of a number as a neighbour of the number that JavaScript reads. */
const tolerance = 2 ** -50;
const digits = 12;
const extremes = { least: 1e-290, most: 1e290 };

/** Equal numbers, and those that a database may read as equal, get equal texts, or such of which `termsOf` knows all. */
function roundNumber(value: number): string {
  const size = Math.abs(value);
  if (size < extremes.least) return '0';
  return size > extremes.most ? `${Math.sign(value)}e` : String(Number(value.toPrecision(digits)));
}

const numberLike = /^-?[0-9]/;
/** A longer text is never compared as a number. */
const longestNumber = 40;

/** Returns whether a database may compare a text as a number. */
function isNumber(text: string): boolean {
  return text.length <= longestNumber && numberLike.test(text) && Number.isFinite(Number(text));
}
