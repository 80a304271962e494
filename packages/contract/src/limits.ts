import { type Static, Type } from 'typebox';

/** One row of the table of limits. Source: docs/contract.md "Files". */
export const Limit = Type.Object({
  name: Type.String({ description: 'Unique; docs/reference/limits.md lists all names.' }),
  bounds: Type.String({ description: 'What the limit bounds.' }),
  value: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The largest value allowed; null: no limit is set.',
  }),
  unit: Type.String({ description: 'Such as `bytes`, `characters`, `members`.' }),
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the answer above the limit; null: `effect` says what happens instead.',
  }),
  code: Type.Union([Type.String(), Type.Null()], { description: 'Error code of that answer.' }),
  effect: Type.Union([Type.String(), Type.Null()], { description: 'What happens above the limit without a refusal.' }),
  setting: Type.Union([Type.String(), Type.Null()], { description: 'The setting that changes the limit.' }),
});
export type Limit = Static<typeof Limit>;
