import { type Static, Type } from 'typebox';
import { filterLimits } from './filter-limits.ts';

/** Conditions on chunks. Source: docs/contract.md "Collections, records, chunks". */

const closed = { additionalProperties: false } as const;
const Key = Type.String({ minLength: 1, maxLength: 64, description: 'Name of a metadata entry.' });
const text = Type.String({ maxLength: filterLimits.textCharacters });
const list = { minItems: 1, maxItems: filterLimits.values };

export const EqualityCondition = Type.Object(
  {
    type: Type.Enum(['eq', 'ne']),
    key: Key,
    value: Type.Union([text, Type.Number(), Type.Boolean()]),
  },
  closed,
);
export const OrderCondition = Type.Object(
  {
    type: Type.Enum(['gt', 'gte', 'lt', 'lte']),
    key: Key,
    value: Type.Union([text, Type.Number()], {
      description: 'Texts are compared character by character, so write dates in ISO 8601.',
    }),
  },
  closed,
);
export const MembershipCondition = Type.Object(
  {
    type: Type.Enum(['in', 'nin']),
    key: Key,
    value: Type.Array(Type.Union([text, Type.Number(), Type.Boolean()]), list),
  },
  closed,
);
export const TextCondition = Type.Object(
  {
    type: Type.Enum(['contains', 'not_contains', 'starts_with', 'ends_with']),
    key: Key,
    value: Type.String({
      minLength: 1,
      maxLength: filterLimits.textCharacters,
      description: 'Compared with texts only. Upper and lower case differ.',
    }),
  },
  closed,
);
export const PresenceCondition = Type.Object(
  {
    type: Type.Enum(['empty', 'not_empty'], { description: '`empty`: the entry is missing, null or an empty text.' }),
    key: Key,
  },
  closed,
);

const Field = Type.Enum(['record_id', 'file_id'], {
  description:
    '`record_id`: the record of the chunk. `file_id`: the file that this record names. A chunk that was created directly has neither.',
});
const id = Type.String({ minLength: 1, maxLength: filterLimits.idCharacters });

/** These conditions have `field` instead of `key`, because metadata may have an entry of any name. */
export const IdCondition = Type.Object({ type: Type.Enum(['eq', 'ne']), field: Field, value: id }, closed);
export const IdListCondition = Type.Object(
  { type: Type.Enum(['in', 'nin']), field: Field, value: Type.Array(id, list) },
  closed,
);

export type TextCondition = Static<typeof TextCondition>;
export type PresenceCondition = Static<typeof PresenceCondition>;
export type IdComparison = Static<typeof IdCondition> | Static<typeof IdListCondition>;
const group = Type.Enum(['and', 'or']);
const bounds = { minItems: 1, maxItems: filterLimits.conditions };
const OfMetadata = [EqualityCondition, OrderCondition, MembershipCondition, TextCondition, PresenceCondition] as const;
const Condition = [...OfMetadata, IdCondition, IdListCondition] as const;
export const InnerFilterGroup = Type.Object(
  { type: group, filters: Type.Array(Type.Union([...Condition]), bounds) },
  closed,
);
export const FilterGroup = Type.Object(
  { type: group, filters: Type.Array(Type.Union([...Condition, InnerFilterGroup]), bounds) },
  closed,
);

/**
 * Selects chunks by their metadata, or by that of their record when the chunk lacks the entry, and by the ids of their
 * record and its file. A number also matches a text with that number. `ne`, `nin` and `not_contains` also match chunks
 * without the entry or id. Groups may be nested two levels deep.
 */
export const MetadataFilter = Type.Union([...Condition, FilterGroup], {
  description:
    'Return only chunks whose metadata match the filter. If a chunk lacks an entry, the entry of its record counts. Examples: {"type":"eq","key":"lang","value":"en"}, {"type":"in","field":"record_id","value":["…"]}, {"type":"and","filters":[…]}. A number also matches the same number written as text. `ne`, `nin` and `not_contains` also match chunks without the entry or id. All conditions together have at most 512 values.',
});
export type MetadataFilter = Static<typeof MetadataFilter>;
export type MetadataCondition = Static<(typeof OfMetadata)[number]>;
