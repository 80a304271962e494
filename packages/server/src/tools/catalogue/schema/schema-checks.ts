import { checkSchema } from './check-schema.ts';
import { createErrorCollector } from './error-collector.ts';
import { compileLinearRegExp } from './linear-regexp.ts';

/** The rules of the catalogue for schemas, by which importers convert them. */
export const schemaChecks = {
  /** Returns one sentence for each error of a schema. */
  findSchemaErrors(schema: Readonly<Record<string, unknown>>): string[] {
    const errors = createErrorCollector('', () => null);
    checkSchema(schema, [], errors);
    return errors.list.map(({ field, message }) => `${field}: ${message}`);
  },
  /** Returns why a pattern cannot be used in a schema; null when it can. */
  isLinearPattern(pattern: string): string | null {
    try {
      compileLinearRegExp(pattern);
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  },
};
