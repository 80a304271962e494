import { readFileSync } from 'node:fs';

/** A row of `docs/glossary.md`. */
export interface Term {
  /** The words to use instead, for the report. */
  readonly use: string;
  /** Words that names must not contain, each as a list of lower-case words. */
  readonly identifiers: ReadonlyArray<readonly string[]>;
  /** Lower-case phrases of several words that sentences must not contain. */
  readonly phrases: readonly string[];
  /** Prefixes of paths that are exempt from this term. */
  readonly allowedIn: readonly string[];
}

/**
 * Reads the terms.
 * @throws Error for a phrase of one word, because everyday words are never matched alone in sentences
 */
export function readGlossary(path: string): Term[] {
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2);
  return rows.map((row) => {
    const [, use = '', , identifiers = '', phrases = '', allowedIn = ''] = row.split('|').map((cell) => cell.trim());
    const short = list(phrases).find((phrase) => !phrase.includes(' '));
    if (short !== undefined) throw new Error(`docs/glossary.md: the phrase "${short}" is a single word`);
    return {
      use,
      identifiers: list(identifiers).map((name) => name.split(' ')),
      phrases: list(phrases),
      allowedIn: list(allowedIn),
    };
  });
}

function list(cell: string): string[] {
  return cell
    .split(';')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '');
}
