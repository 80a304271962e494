import type { DefinitionLoss, Plugin } from '@quartermaster/contract';
import { isJsonObject } from '../../../platform/json/json-object.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The input of a format. */
export interface Described {
  readonly plugin: Plugin;
  /** Whether the plugin calls hosts outside the service. */
  readonly reachesOut: boolean;
}

/** The definition of a plugin in a provider's format, and what the format cannot represent. */
export interface Defined {
  readonly definition: Readonly<Record<string, unknown>>;
  readonly losses: readonly DefinitionLoss[];
}

/** Pure: the same plugin gives the same definition. */
export type FunctionFormat = (described: Described) => Defined;

/**
 * Collects what a format cannot represent. A provider refuses a request when one schema in it is not supported, so each format keeps
 * what it can express, and the losses tell authors and clients the rest. Paths start at the plugin record, such as `/input_schema/properties/lat`.
 */
export interface Losses {
  add(kind: DefinitionLoss['kind'], path: readonly string[], message: string): void;
  readonly list: readonly DefinitionLoss[];
}

export function createLosses(): Losses {
  const list: DefinitionLoss[] = [];
  return {
    add: (kind, path, message) => {
      const pointer = path.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
      list.push({ kind, path: pointer, message });
    },
    list,
  };
}

/** The entries of a keyword that maps names to schemas. */
export function membersOf(value: unknown): Array<[string, unknown]> {
  return isJsonObject(value) ? Object.entries(value) : [];
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** The types in `type`; undefined when the schema has no `type`. */
export function typesOf(schema: JsonSchema): string[] | undefined {
  if (typeof schema.type === 'string') return [schema.type];
  return Array.isArray(schema.type) ? textsIn(schema.type) : undefined;
}
