/**
 * The limits of a filter: conditions in one group, values of one `in` or `nin`, values of all conditions together,
 * characters of a text and of an id. A condition without a value counts as one value.
 */
export const filterLimits = {
  conditions: 16,
  values: 100,
  totalValues: 512,
  textCharacters: 512,
  idCharacters: 64,
} as const;
