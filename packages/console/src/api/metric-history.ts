/** One line of the Prometheus text format. */
export interface Measure {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Sample {
  readonly at: number;
  readonly measures: readonly Measure[];
}

/** The metrics that the charts show. */
const charted: ReadonlySet<string> = new Set([
  'quartermaster_http_requests_total',
  'quartermaster_http_request_seconds_sum',
  'quartermaster_http_request_seconds_count',
  'quartermaster_executions_total',
  'quartermaster_sandbox_waiting',
  'process_resident_memory_bytes',
]);

/** The newest samples stay as they are. Of the others, one a minute stays, up to three hours. */
const newest = 60;
const thinnedMs = 60_000;
const most = 240;

/** Adds a sample to earlier ones. Those hold only what the charts show, added up by the first digit of the status. */
export function addSample(before: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = before.at(-1);
  const history = last === undefined ? [] : [...before.slice(0, -1), condense(last)];
  const old = history.slice(0, -newest);
  const kept = old.filter(({ at }, index) => index === 0 || minuteOf(at) !== minuteOf(old[index - 1]?.at ?? 0));
  return [...kept, ...history.slice(-newest), sample].slice(-most);
}

const minuteOf = (at: number) => Math.floor(at / thinnedMs);

function condense({ at, measures }: Sample): Sample {
  const sums = new Map<string, Measure>();
  for (const { name, labels, value } of measures) {
    if (!charted.has(name)) continue;
    const status = labels.status?.slice(0, 1) ?? '';
    const key = name + status;
    sums.set(key, { name, labels: { status }, value: value + (sums.get(key)?.value ?? 0) });
  }
  return { at, measures: [...sums.values()] };
}
