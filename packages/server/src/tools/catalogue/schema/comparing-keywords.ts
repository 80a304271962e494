import type { Ajv2020 } from 'ajv/dist/2020.js';
import { jsonSize } from '../../../platform/json/json-size.ts';
import type { CheckBudget } from './check-budget.ts';
import type { ExactIntegers } from './exact-integers.ts';

/**
 * Replaces the engine's keywords that compare values. Its `uniqueItems` compares each pair of objects, which takes minutes for 1
 * MiB. Its comparison calls `valueOf`, which the data can define. `const` and `enum` read no more of a value than their own values
 * have, because a union may have a thousand of them. They compare doubles, because manifests have no other numbers.
 */
export function replaceComparingKeywords(ajv: Ajv2020, budget: CheckBudget, exact?: ExactIntegers): void {
  for (const keyword of ['const', 'enum', 'uniqueItems']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'const',
    compile: (wanted: unknown) => isAmong([wanted]),
  });
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: isAmong,
  });
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (wanted: boolean) => (items: readonly unknown[]) => !wanted || areUnique(items, budget, exact),
  });
}

function isAmong(wanted: readonly unknown[]): (value: unknown) => boolean {
  const texts = new Set(wanted.map(canonical));
  const longest = Math.max(0, ...wanted.map((value) => jsonSize(value, Number.POSITIVE_INFINITY)));
  return (value) => jsonSize(value, longest) <= longest && texts.has(canonical(value));
}

function areUnique(items: readonly unknown[], budget: CheckBudget, exact?: ExactIntegers): boolean {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const text = canonical(exact === undefined ? item : exact.restore(exact.at(items, index, item)));
    budget.compare(text.length);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

/** The same text for equal values: 1 and 1.0 are equal, and the order of members does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, withSortedNames) ?? 'undefined';
}

function withSortedNames(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
