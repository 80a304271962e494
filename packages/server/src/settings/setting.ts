/** One setting: `QUARTERMASTER_` + its key. */
export interface Setting {
  readonly description: string;
  /** As written in the environment; null: unset has a meaning of its own, said in the description. */
  readonly default: string | null;
  /** What is wrong with a value, as the rest of a sentence that starts with it; null when it is right. */
  readonly check: (text: string) => string | null;
  /** Its value is never printed. */
  readonly secret?: true;
}
