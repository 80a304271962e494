/** Some settings are invalid. */
export class ConfigError extends Error {
  readonly errors: readonly string[];
  constructor(errors: readonly string[]) {
    super(`The settings are not valid:\n${errors.map((error) => `  - ${error}`).join('\n')}`);
    this.name = 'ConfigError';
    this.errors = errors;
  }
}
