/**
 * A promise, its source, and the tests that verify it. A test is named by its title as written in the code, with `${…}`
 * where a table provides a part.
 */
export interface Requirement {
  readonly promise: string;
  /** `docs/contract.md "Heading"` or `ADR NNNN`; several are separated by semicolons. */
  readonly source: string;
  readonly tests: readonly string[];
}

/** The requirements of one family by id. An id is the family, a dot and a word for the promise. */
export type Requirements = Readonly<Record<string, Requirement>>;
