import type { DifyCondition, DifyOperator, DifyRetrieval } from '@quartermaster/contract';
import { fieldInvalid } from '../../../platform/validation/validation-error.ts';
import { checkFilter, checkText } from '../../../stores/search/check-filter.ts';
import type { ChunkFilter } from '../../../stores/search/chunk-index.ts';

/**
 * Translates the conditions of Dify to a metadata filter. Returns undefined without conditions.
 * @throws REQUEST_VALIDATION_ERROR for a value that does not fit its operator, for too many values, and for ill-formed text
 */
export function toFilter(condition: DifyRetrieval['metadata_condition']): ChunkFilter | undefined {
  const conditions = condition?.conditions ?? [];
  if (conditions.length === 0) return undefined;
  const filters = conditions.map(({ name, ...comparison }, index) => {
    const path = `body/metadata_condition/conditions/${index}`;
    for (const key of [name].flat()) checkText(key, `${path}/name`);
    for (const value of [comparison.value].flat()) checkText(value, `${path}/value`);
    const read = readComparison(comparison, `${path}/value`);
    if (!Array.isArray(name)) return { key: name, ...read };
    return { type: 'or' as const, filters: name.map((key) => ({ key, ...read })) };
  });
  const filter: ChunkFilter = { type: condition?.logical_operator ?? 'and', filters };
  checkFilter(filter, 'body/metadata_condition');
  return filter;
}

type Comparison<Condition = Exclude<ChunkFilter, { filters: unknown } | { field: unknown }>> = Condition extends unknown
  ? Omit<Condition, 'key'>
  : never;

const membership = { in: 'in', 'not in': 'nin' } as const;
const equality = { is: 'eq', 'is not': 'ne', '=': 'eq', '≠': 'ne' } as const;
const order = { '>': 'gt', '<': 'lt', '≥': 'gte', '≤': 'lte', after: 'gt', before: 'lt' } as const;
const dates = { after: 'after', before: 'before' } as const;
const partial = {
  contains: 'contains',
  'not contains': 'not_contains',
  'start with': 'starts_with',
  'end with': 'ends_with',
} as const;
const presence = { empty: 'empty', 'not empty': 'not_empty' } as const;
const textual: ReadonlySet<DifyOperator> = new Set(['is', 'is not']);

function readComparison(
  { comparison_operator: operator, value }: Omit<DifyCondition, 'name'>,
  path: string,
): Comparison {
  if (isIn(presence, operator)) return { type: presence[operator] };
  if (isIn(membership, operator)) return { type: membership[operator], value: readList(value, path) };
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw fieldInvalid(path, describe(value), `a string or a number for the operator "${operator}"`);
  }
  if (isIn(partial, operator)) {
    if (value === '') throw fieldInvalid(path, 'an empty text', `a text for the operator "${operator}"`);
    return { type: partial[operator], value: String(value) };
  }
  const operand = textual.has(operator) ? value : readNumber(value);
  if (isIn(equality, operator)) return { type: equality[operator], value: operand };
  if (isIn(dates, operator) && typeof operand === 'string') {
    if (isDate(operand)) return { type: dates[operator], value: operand };
    throw fieldInvalid(path, 'a text that is no date', `an ISO 8601 date or a number for the operator "${operator}"`);
  }
  return { type: order[operator], value: operand };
}

function isIn<Name extends string>(table: Readonly<Record<Name, unknown>>, name: string): name is Name {
  return Object.hasOwn(table, name);
}

/** Returns the number that a text contains, otherwise the text. Dify may send numbers and times as texts. */
function readNumber(value: string | number): string | number {
  return typeof value === 'string' && /^-?\d{1,20}(?:\.\d{1,20})?$/.test(value) ? Number(value) : value;
}

/** Whether a text starts like an ISO 8601 date and is a date, such as 2026-05 or 2026-05-01T10:00:00Z. */
function isDate(text: string): boolean {
  return /^\d{4}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Dify may send a list as one text with commas. */
function readList(value: DifyCondition['value'], path: string): Array<string | number> {
  const list = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : [value ?? []].flat();
  const values = list.filter((each) => each !== '');
  if (values.length === 0) throw fieldInvalid(path, describe(value), 'a list with at least one value');
  return values;
}

function describe(value: DifyCondition['value']): string {
  if (value === undefined || value === null) return 'nothing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
