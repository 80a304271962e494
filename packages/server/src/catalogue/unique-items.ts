import type { Ajv2020 } from 'ajv/dist/2020.js';

/** Replaces the engine's `uniqueItems`, which compares each pair of objects, by one that reads the array once. */
export function replaceUniqueItems(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (wanted: boolean, items: readonly unknown[]) => !wanted || areUnique(items),
    error: { message: 'items must all differ' },
  });
}

function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = JSON.stringify(item, withSortedNames) ?? 'undefined';
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

/** Objects are equal whatever the order of their members. */
function withSortedNames(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
