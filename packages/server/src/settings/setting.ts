/** One setting: `QUARTERMASTER_` + its key. */
export interface Setting {
  readonly description: string;
  /** As written in the environment; null: the description explains what unset means. */
  readonly default: string | null;
  /** The error in a value, as the rest of a sentence that starts with the value; null when it is valid. */
  readonly check: (text: string) => string | null;
  /** Whether the value must never be printed. */
  readonly secret?: true;
}
