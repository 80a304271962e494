import { Problem } from '../../../platform/problem.ts';

/** Secrets cannot be redacted from a text within the bounds. No part of the text may be used. */
export class RedactionRefused extends Problem {
  constructor(reason: string) {
    super('REQUEST_VALIDATION_ERROR', `body/credentials: ${reason}.`);
    this.name = 'RedactionRefused';
  }
}

/** Returns the redacted text, or `instead` when the secrets cannot be redacted. For texts that are not part of an answer. */
export function redactedOr<T>(instead: T, redact: () => T): T {
  try {
    return redact();
  } catch (error) {
    if (error instanceof RedactionRefused) return instead;
    throw error;
  }
}

/**
 * The maximum number of characters of encoded forms that are built for the secrets of one run. They take about 40 ms
 * and 16 MiB.
 */
const mostCharacters = 8 * 1024 * 1024;

/**
 * Passes texts through and counts their characters. Throws {@link RedactionRefused} when the limit is exceeded, and on every later
 * call.
 */
export type CountCharacters = (texts: Iterable<string>) => Iterable<string>;

export function createCharacterBudget(limit = mostCharacters): CountCharacters {
  let remaining = limit;
  return function* (texts) {
    for (const text of texts) {
      remaining -= text.length;
      if (remaining < 0)
        throw new RedactionRefused('The credentials have too many encoded forms to be redacted within the limits.');
      yield text;
    }
  };
}
