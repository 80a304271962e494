import { type Static, Type } from 'typebox';

/** A limit that a client can act on. Source: docs/contract.md "Files". */
export const Limit = Type.Object({
  name: Type.String({ description: 'Unique name; docs/reference/limits.md explains each.' }),
  bounds: Type.String({ description: 'The value that is limited.' }),
  value: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Largest allowed value; null if there is no limit.',
  }),
  unit: Type.String({ description: 'Unit, such as `bytes`, `characters` or `members`.' }),
  status: Type.Integer({ description: 'HTTP status of the answer if the limit is exceeded.' }),
  code: Type.String({ description: 'Error code of that answer.' }),
  setting: Type.Union([Type.String(), Type.Null()], {
    description: 'Setting that changes the limit; null if none does.',
  }),
});
export type Limit = Static<typeof Limit>;
