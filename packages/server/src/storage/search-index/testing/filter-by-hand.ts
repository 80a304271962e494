import type { ChunkFilter } from '../../../stores/search/chunk-index.ts';

/** What a filter sees of a chunk. */
export interface FilteredRow {
  readonly recordId: string | null;
  readonly fileId: string | null;
  /** The entries of the chunk, and those of its record that the chunk lacks. */
  readonly entries: Readonly<Record<string, unknown>>;
}

type Condition = Exclude<ChunkFilter, { filters: unknown } | { field: unknown }>;

/** Decides a filter in JavaScript, independently of both databases and of the index. */
export function meetsByHand(filter: ChunkFilter, row: FilteredRow): boolean {
  return meetsFilter(readable(filter), { ...row, entries: readable(row.entries) });
}

/** Replaces what no condition sees in a text or key: U+0000 and half of a surrogate pair. */
function readable<Value>(value: Value): Value {
  const text = (each: string) => each.toWellFormed().replaceAll('\0', '\ufffd');
  const read = (each: unknown): unknown => {
    if (typeof each === 'string') return text(each);
    if (Array.isArray(each)) return each.map(read);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [text(key), read(inner)]));
  };
  return read(value) as Value; // of the same form
}

function meetsFilter(filter: ChunkFilter, row: FilteredRow): boolean {
  if ('filters' in filter) {
    const decide = (part: ChunkFilter) => meetsFilter(part, row);
    return filter.type === 'and' ? filter.filters.every(decide) : filter.filters.some(decide);
  }
  if (!('field' in filter)) return meetsCondition(filter, row.entries);
  const id = filter.field === 'record_id' ? row.recordId : row.fileId;
  const isFound = id !== null && [filter.value].flat().includes(id);
  return filter.type === 'eq' || filter.type === 'in' ? isFound : !isFound;
}

function meetsCondition(condition: Condition, entries: FilteredRow['entries']): boolean {
  const entry = Object.hasOwn(entries, condition.key) ? entries[condition.key] : null;
  switch (condition.type) {
    case 'eq':
    case 'in':
      return [condition.value].flat().some((value) => equals(entry, value));
    case 'ne':
    case 'nin':
      return ![condition.value].flat().some((value) => equals(entry, value));
    case 'empty':
      return entry === null || entry === '';
    case 'not_empty':
      return entry !== null && entry !== '';
    case 'contains':
      return typeof entry === 'string' && entry.includes(condition.value);
    case 'not_contains':
      return typeof entry !== 'string' || !entry.includes(condition.value);
    case 'starts_with':
      return typeof entry === 'string' && entry.startsWith(condition.value);
    case 'ends_with':
      return typeof entry === 'string' && entry.endsWith(condition.value);
    case 'after':
    case 'before': {
      const type = condition.type === 'after' ? 'gt' : 'lt';
      return (
        typeof entry === 'string' && /^\d{4}-\d{2}/.test(entry) && isOrdered(type, compare(entry, condition.value))
      );
    }
    default:
      return isOrdered(condition.type, compare(entry, condition.value));
  }
}

const equals = (entry: unknown, value: string | number | boolean) =>
  typeof value === 'boolean' ? entry === value : compare(entry, value) === 0;

/** NaN for values that cannot be compared. */
function compare(entry: unknown, value: string | number): number {
  if (typeof value === 'string') {
    return typeof entry === 'string' ? Buffer.compare(Buffer.from(entry), Buffer.from(value)) : Number.NaN;
  }
  return Math.sign(toNumber(entry) - value);
}

function toNumber(entry: unknown): number {
  if (typeof entry === 'number') return entry;
  const isNumber = typeof entry === 'string' && entry.length <= 40 && jsonNumber.test(entry);
  return isNumber ? Number(entry) : Number.NaN;
}
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?$/; // bounded: at most 40 characters

function isOrdered(type: 'gt' | 'gte' | 'lt' | 'lte', order: number): boolean {
  if (order === 0) return type === 'gte' || type === 'lte';
  return type === 'gt' || type === 'gte' ? order > 0 : order < 0;
}
