/**
 * What is promised, where the promise is made, and which tests hold it. A test is named by its title, as it stands in
 * the source (with `${…}` where it is made from a table).
 */
export interface Requirement {
  readonly promise: string;
  /** `docs/contract.md "Heading"` or `ADR NNNN`; several are separated by semicolons. */
  readonly source: string;
  readonly tests: readonly string[];
}

/** The requirements of one family, by their ids: the family, a dot, the promise in a word. */
export type Requirements = Readonly<Record<string, Requirement>>;
