import { declaredNames } from './declared-names.ts';
import type { Term } from './read-glossary.ts';

/** Tables in migrations and in SQL files. */
const tables = /\bcreateTable\(\s*'(\w+)'|\bcreate (?:virtual )?table (?:if not exists )?"?(\w+)/gi;

/** Returns the avoided words of a file, one line each. The folders and the name of the file count as names. */
export function findAvoidedWords(path: string, text: string, terms: readonly Term[]): string[] {
  const names = [...path.split('/').map((part) => part.replace(/\..*$/, '')), ...namesIn(path, text)];
  const split = names.map((name) => ({ name, words: wordsOf(name) }));
  const prose = proseOf(path, text);
  return terms
    .filter(({ allowedIn }) => !allowedIn.some((start) => path.startsWith(start)))
    .flatMap(({ use, identifiers, phrases }) => [
      ...split
        .filter(({ words }) => identifiers.some((avoided) => containsRun(words, avoided)))
        .map(({ name }) => `${path}: the name "${name}"; use: ${use}`),
      ...phrases
        .filter((phrase) => prose.includes(` ${phrase}`))
        .map((phrase) => `${path}: the phrase "${phrase}"; use: ${use}`),
    ]);
}

function namesIn(path: string, text: string): string[] {
  const ofTables = /\.(ts|sql)$/.test(path)
    ? [...text.matchAll(tables)].map(([, built, written]) => built ?? written ?? '')
    : [];
  return /\.(ts|tsx|mjs)$/.test(path) ? [...declaredNames(path, text), ...ofTables] : ofTables;
}
/** Splits a name: `createLightStem`, `light-stem` and `LIGHT_STEM` contain the words light and stem. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

function containsRun(words: readonly string[], avoided: readonly string[]): boolean {
  return words.some((_, start) => avoided.every((word, index) => words[start + index] === word));
}

/**
 * Returns the text in lower case with single blanks between words. Comment markers, line breaks, quotation marks, emphasis and the
 * `+` between two parts of a string are left out; the punctuation of sentences stays, because a phrase does not cross it, and so
 * do the signs within names of files and packages.
 */
function proseOf(path: string, text: string): string {
  const marker = path.endsWith('.md') ? /^[ \t]*>/gm : /^\s*(\/\*\*?|\*\/?|\/\/)/gm;
  const joined = text.replace(marker, ' ').replace(/(['"`])\s*\+\s*['"`]/g, '$1');
  return ` ${joined.toLowerCase().replace(/[^\p{L}\p{N}.,;:!?/_-]+/gu, ' ')}`;
}
