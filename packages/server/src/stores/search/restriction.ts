import type { IdComparison, MetadataCondition } from '@quartermaster/contract';
import { filterLimits } from '@quartermaster/contract/filter-limits';
import type { ChunkFilter, DateCondition } from './chunk-index.ts';
import {
  above,
  below,
  booleanTerm,
  cut,
  endOfTermsTo,
  firstTermFrom,
  isExactNumber,
  isPlain,
  isPlainKey,
  numberTerm,
  otherTerm,
  prefixOf,
  recordTerm,
  textTerm,
  vagueTerm,
} from './filter-terms.ts';

/** The terms from one to before another one, in the order of the dictionary. */
export interface TermRange {
  readonly type: 'range';
  /** The beginning of all terms of the key and kind. */
  readonly prefix: string;
  readonly from: string;
  readonly to: string;
  /** Terms that are left out. */
  readonly without: readonly string[];
  /** Leaves out terms whose text fails this test. */
  readonly test?: TextTest;
}
export interface TextTest {
  readonly type: 'contains' | 'ends_with';
  readonly value: string;
}

/**
 * Chunks that may meet a filter: those with one of the terms, those of all or of one of the parts, or those that are not
 * among the chunks of a part. Every chunk that meets the filter is among them; others may be, too.
 */
export type Restriction =
  | { readonly type: 'terms'; readonly terms: readonly string[] }
  | TermRange
  | { readonly type: 'and' | 'or'; readonly parts: readonly Restriction[] }
  | { readonly type: 'not'; readonly part: Restriction };

/**
 * A filter with more terms is not translated, because finding each of them takes time. A condition has at most five terms
 * for each value, so that only files with many records exceed this.
 */
const mostTerms = 5 * filterLimits.totalValues;

/** Records that are found by their terms, each of which takes time. */
export const mostAllowedRecords = 64;

/** Adds the chunks of records. With more than `mostAllowedRecords` there is no restriction. */
export function allowRecords(restriction: Restriction, recordIds: readonly string[]): Restriction | null {
  if (recordIds.length === 0) return restriction;
  if (recordIds.length > mostAllowedRecords) return null;
  return { type: 'or', parts: [restriction, termsOf(recordIds.map(recordTerm))] };
}

/** A record of a collection, and the file that it names. */
export interface RecordOfFile {
  readonly recordId: string;
  readonly fileId: string;
}

/** The maximum number of files of a filter whose records are looked up, and of these records. */
export const mostRecordsOfFiles = filterLimits.totalValues;

/** Returns the files whose records `toRestriction` needs; null when there are more than `mostRecordsOfFiles`. */
export function listFiles(filter: ChunkFilter): readonly string[] | null {
  const files = new Set(findFiles(filter));
  return files.size <= mostRecordsOfFiles ? [...files] : null;
}

function findFiles(filter: ChunkFilter): string[] {
  if ('filters' in filter) return filter.filters.flatMap(findFiles);
  return 'field' in filter && filter.field === 'file_id' ? [filter.value].flat() : [];
}

/**
 * Translates a filter. Conditions of an `and` that cannot be translated are left out.
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
  if (!('filters' in filter)) return translateCondition(filter);
  const all = filter.filters.map((part) => translate(part, records));
  const parts = all.filter((part) => part !== null);
  if (filter.type === 'or') return parts.length === all.length ? { type: 'or', parts } : null;
  return parts.length === 0 ? null : { type: 'and', parts: joinRanges(parts) };
}

function translateIds({ type, field, value }: IdComparison, records: RecordsByFile): Restriction | null {
  const ids = [...new Set([value].flat())];
  if (field === 'file_id' && records === null) return null;
  const ofFiles = ids.flatMap((id) => records?.get(id) ?? []).map(({ recordId }) => recordId);
  const terms = (field === 'record_id' ? ids : ofFiles).map(recordTerm);
  if (type === 'eq' || type === 'in') return termsOf(terms);
  return terms.length === 0 ? null : { type: 'not', part: termsOf(terms) };
}

function translateCondition(condition: MetadataCondition | DateCondition): Restriction | null {
  const { key } = condition;
  switch (condition.type) {
    case 'eq':
    case 'in':
      return termsOf([condition.value].flat().flatMap((value) => equalTerms(key, value)));
    case 'ne':
    case 'nin':
      return not(key, termsOf([condition.value].flat().flatMap((value) => certainTerms(key, value))));
    case 'contains':
    case 'ends_with':
      return findTexts(key, { type: condition.type, value: condition.value });
    case 'not_contains': {
      const found = findTexts(key, { type: 'contains', value: condition.value });
      return found && not(key, found);
    }
    case 'starts_with': {
      const start = orderedStart(condition.value);
      return rangeOf(prefixOf('t', key), { from: start, to: endOf(start) });
    }
    case 'empty':
      return not(key, anyEntry(key));
    case 'not_empty':
      return anyEntry(key);
    case 'gt':
    case 'gte':
    case 'after':
    case 'lt':
    case 'lte':
    case 'before':
      return typeof condition.value === 'number'
        ? compareNumbers(key, condition.type, condition.value)
        : compareTexts(key, condition.type, condition.value);
  }
}

const termsOf = (terms: readonly string[]): Restriction => ({ type: 'terms', terms: [...new Set(terms)] });

/** Returns the terms that an entry which equals the value may have. */
function equalTerms(key: string, value: string | number | boolean): string[] {
  if (typeof value === 'string') return [textTerm(key, value)];
  if (typeof value === 'boolean') return [booleanTerm(key, value)];
  return [
    numberTerm(key, value, true),
    ...[below(value), value, above(value)].map((near) => numberTerm(key, near, false)),
  ];
}

/** Returns the terms that only entries which equal the value have, except entries that have the vague term, too. */
function certainTerms(key: string, value: string | number | boolean): string[] {
  if (typeof value === 'string') return isPlain(value) ? [textTerm(key, value)] : [];
  if (typeof value === 'boolean') return [booleanTerm(key, value)];
  return isExactNumber(value) ? [numberTerm(key, value, true)] : [];
}

/** The chunks that are not among the chunks of `part`, and those whose entries may only seem to be. */
function not(key: string, part: Restriction): Restriction | null {
  const excludesNone = part.type === 'terms' && part.terms.length === 0;
  if (excludesNone || !isPlainKey(key)) return null;
  return { type: 'or', parts: [{ type: 'not', part }, termsOf([vagueTerm(key)])] };
}

/** Entries that are neither null nor an empty text. */
function anyEntry(key: string): Restriction {
  const all = (kind: 't' | 'n' | 'b') => rangeOf(prefixOf(kind, key), {});
  const texts = { ...all('t'), without: [textTerm(key, '')] };
  return { type: 'or', parts: [texts, all('n'), all('b'), termsOf([otherTerm(key)])] };
}

function findTexts(key: string, test: TextTest): Restriction | null {
  return isPlain(test.value) ? { ...rangeOf(prefixOf('t', key), {}), test } : null;
}

type Order = 'gt' | 'gte' | 'after' | 'lt' | 'lte' | 'before';
const upward: ReadonlySet<Order> = new Set(['gt', 'gte', 'after']);
const inclusive: ReadonlySet<Order> = new Set(['gte', 'lte']);

function compareNumbers(key: string, type: Order, value: number): TermRange {
  const bounds = upward.has(type)
    ? { from: firstTermFrom(key, below(value)) }
    : { to: endOfTermsTo(key, above(value)) };
  const isExcluded = !inclusive.has(type) && isExactNumber(value);
  const without = isExcluded ? [numberTerm(key, value, true)] : [];
  return { ...rangeOf(prefixOf('n', key), {}), ...bounds, without };
}

function compareTexts(key: string, type: Order, value: string): TermRange {
  const prefix = prefixOf('t', key);
  const start = orderedStart(value);
  const isExcluded = !inclusive.has(type) && isPlain(value);
  const range = rangeOf(prefix, upward.has(type) ? { from: start } : { to: endOf(start) });
  return { ...range, without: isExcluded ? [textTerm(key, value)] : [] };
}

/**
 * Returns the beginning of a text up to the first character from which on the order of the databases, which is that of
 * code points, differs from the order of the dictionary, which is that of UTF-16.
 */
function orderedStart(text: string): string {
  const end = cut(text).search(/[\ud800-\uffff]/);
  return end < 0 ? cut(text) : text.slice(0, end);
}

/** Returns the first text after all that begin like this; undefined when all do. */
function endOf(start: string): string | undefined {
  if (start === '') return undefined;
  return start.slice(0, -1) + String.fromCharCode(start.charCodeAt(start.length - 1) + 1);
}

function rangeOf(prefix: string, { from = '', to }: { from?: string; to?: string | undefined }): TermRange {
  const end = to === undefined ? `${prefix.slice(0, -1)}\u0002` : prefix + to;
  return { type: 'range', prefix, from: prefix + from, to: end, without: [] };
}

/** Joins the ranges of a key and kind, because each alone may have many more terms. An entry has its terms in all of them. */
function joinRanges(parts: readonly Restriction[]): Restriction[] {
  const joined = new Map<string, TermRange>();
  const others: Restriction[] = [];
  for (const part of parts) {
    if (part.type !== 'range' || part.test !== undefined) others.push(part);
    else {
      const known = joined.get(part.prefix) ?? part;
      const [from, to] = [known.from > part.from ? known.from : part.from, known.to < part.to ? known.to : part.to];
      joined.set(part.prefix, { ...known, from, to, without: [...new Set([...known.without, ...part.without])] });
    }
  }
  return [...joined.values(), ...others];
}

function countTerms(restriction: Restriction): number {
  switch (restriction.type) {
    case 'terms':
      return restriction.terms.length;
    case 'range':
      return 1;
    case 'not':
      return countTerms(restriction.part);
    default:
      return restriction.parts.reduce((sum, part) => sum + countTerms(part), 0);
  }
}
