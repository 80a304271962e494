import type { TextSplitter } from '@quartermaster/contract';

/** The default sizes of a separator splitter. Source: docs/contract.md "Collections, records, chunks". */
export const separatorDefaults = { chunk_size: 1000, chunk_overlap: 0 } as const;

/** A problem of a splitter, described in phrases. */
export interface SplitterError {
  /** The path within the splitter, for example `separators/1`. */
  readonly field: string;
  readonly found: string;
  readonly expected: string;
}

/** Checks the rules of a splitter that the schema cannot express. Returns null when the splitter is valid. */
export function checkSplitter(splitter: TextSplitter): SplitterError | null {
  const nested = splitter.type === 'separator' ? findNested(splitter.separators) : null;
  if (nested !== null) return nested;
  const size = splitter.chunk_size ?? separatorDefaults.chunk_size;
  const overlap = splitter.chunk_overlap ?? separatorDefaults.chunk_overlap;
  if (overlap * 2 <= size) return null;
  const expected = `at most ${Math.floor(size / 2)} (half of chunk_size)`;
  return { field: 'chunk_overlap', found: String(overlap), expected };
}

function findNested(separators: readonly string[]): SplitterError | null {
  for (const [index, separator] of separators.entries()) {
    const other = separators.findIndex((longer, at) => at !== index && longer.includes(separator));
    if (other === -1) continue;
    const found = `${JSON.stringify(separator)}, which is part of separators/${other}`;
    return { field: `separators/${index}`, found, expected: 'a text that is not part of another separator' };
  }
  return null;
}
