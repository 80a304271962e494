import { type Static, Type } from 'typebox';

/** One row of the table of limits. Source: docs/contract.md "Files". */
export const Limit = Type.Object({
  name: Type.String({ description: 'Unique name; docs/reference/limits.md lists all names.' }),
  bounds: Type.String({ description: 'The value that is limited.' }),
  value: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Largest allowed value; null if there is no limit.',
  }),
  unit: Type.String({ description: 'Unit, such as `bytes`, `characters` or `members`.' }),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the answer if the limit is exceeded; null if `effect` describes what happens instead.',
  }),
  code: Type.Union([Type.String(), Type.Null()], { description: 'Error code of that answer.' }),
  effect: Type.Union([Type.String(), Type.Null()], {
    description: 'The effect of exceeding the limit; null if the request is refused.',
  }),
  setting: Type.Union([Type.String(), Type.Null()], {
    description: 'Setting that changes the limit; null if none does.',
  }),
});
export type Limit = Static<typeof Limit>;
