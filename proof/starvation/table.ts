/** One operation of a victim during one attack. Times are milliseconds. */
export interface Row {
  readonly attack: string;
  readonly victim: string;
  readonly operation: string;
  /** The 95th percentiles. */
  readonly idle: number;
  readonly loaded: number;
  readonly limit: number;
  readonly tries: number;
  /** The reasons of failed requests. */
  readonly failures: readonly string[];
}

export function describeRow({ attack, victim, operation }: Row): string {
  return `${attack}: ${operation} of ${victim}`;
}

/** @returns undefined when no request failed and the operation is as fast as it must be */
export function failureOf({ idle, loaded, limit, tries, failures }: Row): string | undefined {
  if (failures.length > 0) return `${failures.length} of ${tries} requests failed: ${describeFailures(failures)}`;
  if (loaded <= limit) return undefined;
  return `took ${round(loaded)} ms; at most ${round(limit)} ms are allowed, because it took ${round(idle)} ms when idle`;
}

function describeFailures(failures: readonly string[]): string {
  const counts = Map.groupBy(failures, (failure) => failure.slice(0, 60));
  return [...counts].map(([failure, each]) => `${each.length} × ${failure}`).join(', ');
}

const round = (value: number) => Math.round(value).toLocaleString('en');

/** Renders the rows as Markdown, the worst first: failed requests, then the time as a share of the limit. */
export function renderTable(rows: readonly Row[]): string[] {
  const share = ({ failures, tries }: Row) => failures.length / Math.max(1, tries);
  const sorted = rows.toSorted((a, b) => share(b) - share(a) || b.loaded / b.limit - a.loaded / a.limit);
  return [
    '| queue and payload | of | operation | idle p95 (ms) | loaded p95 (ms) | limit (ms) | failed | |',
    '|---|---|---|---|---|---|---|---|',
    ...sorted.map((row) => {
      const failed = `${row.failures.length} of ${row.tries}${row.failures.length === 0 ? '' : ` (${describeFailures(row.failures)})`}`;
      const times = [row.idle, row.loaded, row.limit].map(round).join(' | ');
      const verdict = failureOf(row) === undefined ? 'passed' : 'FAILED';
      return `| ${row.attack} | ${row.victim} | ${row.operation} | ${times} | ${failed} | ${verdict} |`;
    }),
  ];
}
