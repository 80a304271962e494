import { filterLimits } from '@quartermaster/contract';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import type { ChunkFilter } from './chunk-index.ts';

/**
 * Checks what the schema of a filter does not express. Each value costs terms in every segment, and text with half of a
 * surrogate pair cannot be stored, so that no entry equals it.
 * @param path of the filter, such as `body/filters`
 * @throws REQUEST_VALIDATION_ERROR
 */
export function checkFilter(filter: ChunkFilter, path: string): void {
  const values = countValues(filter);
  const most = filterLimits.totalValues;
  if (values > most) throw fieldInvalid(path, `${values} values`, `a filter with at most ${most} values in all`);
  checkTexts(filter, path);
}

/** A condition without a value counts as one value. */
function countValues(filter: ChunkFilter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, part) => sum + countValues(part), 0);
  return 'value' in filter && Array.isArray(filter.value) ? filter.value.length : 1;
}

function checkTexts(part: unknown, path: string): void {
  checkText(part, path);
  if (typeof part !== 'object' || part === null) return;
  for (const [name, inner] of Object.entries(part)) checkTexts(inner, `${path}/${name}`);
}

/** @throws REQUEST_VALIDATION_ERROR for text with half of a surrogate pair */
export function checkText(value: unknown, path: string): void {
  if (typeof value !== 'string' || value.isWellFormed()) return;
  throw fieldInvalid(path, 'text with half of a surrogate pair', 'well-formed Unicode text');
}
