/** What `npm run bench -- search` measures. */
export interface SearchOptions {
  /** Numbers of chunks in the questions without filters. */
  readonly sizes: readonly number[];
  /** Numbers of chunks in the questions with filters; empty: the default. */
  readonly filterSizes: readonly number[];
  /** A commit that is measured beside this tree. */
  readonly commit?: string;
  /** Names of the other measurements; null: all. */
  readonly only: readonly string[] | null;
}

const allSizes = [1_000, 10_000, 100_000, 1_000_000];

/** Reads `--sizes 1000,100000`, `--compare <commit>` and `--only adding,postgres`. With `--only`, the sizes are those of `filters`. */
export function parseSearchOptions(args: readonly string[]): SearchOptions {
  const following = (name: string) => {
    const at = args.indexOf(name);
    const value = at < 0 ? undefined : args[at + 1];
    if (at >= 0 && (value === undefined || value.startsWith('-'))) throw new Error(`${name} needs a value.`);
    return value;
  };
  // A part that is named is measured alone.
  const isPart = args.includes('--sizes') || args.includes('--only');
  const named = following('--only')?.split(',');
  const sizes = following('--sizes')?.split(',').map(Number) ?? (isPart ? [] : allSizes);
  if (!sizes.every((size) => Number.isInteger(size) && size >= 1000)) {
    throw new Error('--sizes needs whole numbers of at least 1000, separated by commas.');
  }
  const commit = following('--compare');
  const measured =
    named === undefined
      ? { sizes, filterSizes: [], only: isPart ? [] : null }
      : { sizes: [], filterSizes: sizes, only: named };
  return { ...measured, ...(commit === undefined ? {} : { commit }) };
}
