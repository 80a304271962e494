/** The maximum number of characters of a name that is compared. */
const maxLength = 64;

/**
 * Finds the name that the caller probably wanted: the first candidate that differs in at most two typing errors, or in one when the
 * written name is shorter than six characters. Case does not count. Undefined when no candidate is that similar.
 */
export function didYouMean(written: string, candidates: readonly string[]): string | undefined {
  if (written.length > maxLength) return undefined;
  const most = written.length < 6 ? 1 : 2;
  return candidates.find(
    (candidate) => Math.abs(candidate.length - written.length) <= most && distance(written, candidate) <= most,
  );
}

/** The Damerau–Levenshtein distance, ignoring case. */
function distance(written: string, candidate: string): number {
  const [a, b] = [written.toLowerCase(), candidate.toLowerCase()];
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const at = (line: readonly number[], index: number) => line[index] ?? Number.POSITIVE_INFINITY;
      next.push(
        Math.min(
          ...[at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + (isSame ? 0 : 1)],
          swapped ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, last] = [last, next];
  }
  return last[b.length] ?? Number.POSITIVE_INFINITY;
}
