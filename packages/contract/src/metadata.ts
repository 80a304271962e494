import { type TSchema, Type } from 'typebox';
import { metadataLimits } from './store-bounds.ts';

/** A map from any name to values of one schema. (`Type.Record` uses a pattern that does not match names with a line break.) */
export function MapOf<Value>(values: TSchema, options: object = {}) {
  return Type.Unsafe<Record<string, Value>>({ type: 'object', additionalProperties: values, ...options });
}

const metadataBounds = {
  maxProperties: metadataLimits.entries,
  propertyNames: { type: 'string', maxLength: metadataLimits.nameCharacters },
};
export const Metadata = MapOf<unknown>(Type.Unknown(), {
  ...metadataBounds,
  description:
    'Up to 16 custom entries. Names have at most 64 characters; values can be any JSON. All entries together have at most 16 KiB.',
});
export const StringMetadata = MapOf<string>(Type.String({ maxLength: metadataLimits.textCharacters }), {
  ...metadataBounds,
  description: 'Up to 16 custom entries. Names have at most 64 characters, values at most 512.',
});
