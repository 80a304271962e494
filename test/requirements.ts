import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A promise, its source, and the titles of the tests that verify it. */
export interface Requirement {
  readonly id: string;
  readonly promise: string;
  readonly source: string;
  readonly tests: readonly string[];
}

export const requirementsPage = readFileSync(resolve(import.meta.dirname, 'requirements.md'), 'utf8');

/** The entries of `requirements.md`. */
export const requirements: readonly Requirement[] = [
  ...requirementsPage.matchAll(/^### (\S+)\n\n(.+)\n\nSource: (.+)\n\n((?:- .+\n)+)/gm),
].map(([, id = '', promise = '', source = '', list = '']) => ({
  id,
  promise,
  source,
  tests: list
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(2)),
}));
