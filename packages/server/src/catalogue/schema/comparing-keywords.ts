import type { Ajv2020 } from 'ajv/dist/2020.js';

/**
 * Replaces the engine's keywords that compare values. Its `uniqueItems` compares each pair of objects, which takes minutes for 1
 * MiB. Its comparison calls `valueOf`, which the data can define.
 */
export function replaceComparingKeywords(ajv: Ajv2020): void {
  for (const keyword of ['const', 'enum', 'uniqueItems']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'const',
    compile: (wanted: unknown) => {
      const text = canonical(wanted);
      return (value: unknown) => canonical(value) === text;
    },
  });
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: (wanted: readonly unknown[]) => {
      const texts = new Set(wanted.map(canonical));
      return (value: unknown) => texts.has(canonical(value));
    },
  });
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (wanted: boolean) => (items: readonly unknown[]) => !wanted || areUnique(items),
  });
}

function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = canonical(item);
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
