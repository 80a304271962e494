import type { Service } from '../processes.ts';

/** Write transactions of a service with SQLite: those up to a bound in seconds, summed up as in the metric. */
export type WriteTimes = ReadonlyArray<{ readonly seconds: number; readonly count: number }>;

const bucket = /^quartermaster_database_write_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;

/** Reads the metric of write transactions. */
export async function readWriteTimes({ filesUrl, key }: Service): Promise<WriteTimes> {
  const answer = await fetch(`${filesUrl}/metrics`, { headers: { Authorization: `Bearer ${key}` } });
  return [...(await answer.text()).matchAll(bucket)].map(([, seconds, count]) => ({
    seconds: seconds === '+Inf' ? Number.POSITIVE_INFINITY : Number(seconds),
    count: Number(count),
  }));
}

/** Describes the transactions since an earlier reading: the bound of the longest, and the number above 50 ms. */
export function describeWrites(before: WriteTimes, after: WriteTimes): { text: string; above50: number } {
  const counts = after.map(({ seconds, count }, place) => ({ seconds, count: count - (before[place]?.count ?? 0) }));
  const all = counts.at(-1)?.count ?? 0;
  const longest = counts.find(({ count }) => count === all)?.seconds ?? Number.NaN;
  const above50 = all - (counts.find(({ seconds }) => seconds === 0.05)?.count ?? 0);
  return { text: `${all} transactions, the longest ≤ ${longest * 1000} ms, ${above50} above 50 ms`, above50 };
}
