/** Returns the error in a value, as the rest of a sentence that starts with the name of the setting; null when it is valid. */
export interface SettingCheck {
  (text: string): string | null;
  /** The allowed values, such as `1..60` or `on|off`. Absent: the check decides about any text. */
  readonly allowed?: string;
}

/** One setting: `QUARTERMASTER_` + its key. */
export interface Setting {
  readonly description: string;
  /** As written in the environment; null: the description explains what unset means. */
  readonly default: string | null;
  readonly check: SettingCheck;
  /** Whether the value must never be printed. */
  readonly secret?: true;
}
