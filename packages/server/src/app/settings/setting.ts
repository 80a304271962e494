import { type Static, type TNull, type TSchema, type TUnion, Type } from 'typebox';
import type { Secret } from '../../platform/secret.ts';

/** The schema of the value of a setting, with what its reader and its reference page need. */
export interface SettingSchema extends TSchema {
  /** Starts with an imperative verb, and says what unset means if the default is null. */
  readonly description: string;
  /** The value when the setting is unset, before paths become absolute. */
  readonly default: unknown;
  /** Follows "must" in an error. Enumerations and whole numbers need none. */
  readonly must?: string;
  readonly unit?: Unit;
  /** A path, or a list of paths, that becomes absolute. */
  readonly isPath?: true;
  /** Never printed. The setting with `_FILE` after its name reads the value from a file. */
  readonly isSecret?: true;
}

type Unit = 'bytes' | 'MiB' | 'seconds' | 'hours' | 'days';

export type SettingTable = Readonly<Record<string, TSchema>>;

/** `MAX_FILE_BYTES` becomes `maxFileBytes`. */
type CamelCase<Key extends string> = Key extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Key>;

/** The values of a table of settings. */
export type SettingValues<Table extends SettingTable> = {
  readonly [Key in keyof Table & string as CamelCase<Key>]: Static<Table[Key]>;
};

export function whole(
  [minimum, maximum]: readonly [number, number],
  standard: number,
  description: string,
  unit?: Unit,
) {
  return Type.Integer({ minimum, maximum, default: standard, description, unit });
}

export function choice<const Value extends string>(
  values: readonly Value[],
  standard: NoInfer<Value>,
  description: string,
) {
  return Type.Unsafe<Value>(Type.Enum([...values], { default: standard, description }));
}

/** A setting without a default. Its value is null when it is unset. */
export function unset<Schema extends TSchema>(
  schema: Schema,
  description: string,
  options: Pick<SettingSchema, 'must' | 'unit' | 'isPath'> = {},
): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], { default: null, description, ...options });
}

export const text = (description: string) => unset(Type.String(), description);

export const path = (description: string) => unset(Type.String(), description, { isPath: true });

export const isText = () => true;

export function secret(description: string, isValid: (value: string) => boolean = isText, must?: string) {
  const schema = Type.Refine(Type.String({ default: null, description, must, isSecret: true }), isValid);
  return Type.Unsafe<Secret | null>(schema);
}

/** Items separated by commas. */
export function list(isItem: (item: string) => boolean, must: string, description: string) {
  return Type.Array(Type.Refine(Type.String(), isItem), { default: [], description, must });
}

/** A JSON object. */
export function map<Item>(
  [isName, item]: readonly [isName: (name: string) => boolean, item: TSchema],
  must: string,
  description: string,
) {
  const schema = Type.Record(Type.String(), item, { default: {}, description, must });
  const named = Type.Refine(schema, (value: object) => Object.keys(value).every(isName));
  return Type.Unsafe<ReadonlyMap<string, Item>>(named);
}
