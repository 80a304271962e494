import { useQuery, useQueryClient } from '@tanstack/react-query';
import { filesApi } from './addresses.ts';

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

const everyMs = 5000;
/** The first samples come sooner, because a rate needs two. */
const firstMs = 1000;
const firstSamples = 4;
const mostSamples = 60;

/** Samples of the metrics, taken while the page is open and cached for its next visit. */
export function useSamples(enabled: boolean) {
  const queries = useQueryClient();
  const queryKey = ['metrics'];
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<readonly Sample[]> => {
      const text = await (await filesApi.send('GET /metrics', { signal })).text();
      const before = queries.getQueryData<readonly Sample[]>(queryKey) ?? [];
      return [...before, { at: Date.now(), measures: readMetrics(text) }].slice(-mostSamples);
    },
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) < firstSamples ? firstMs : everyMs),
    enabled,
    staleTime: 0,
    structuralSharing: false,
  });
  return { samples: query.data ?? [], error: query.error, refetch: query.refetch };
}

export function readMetrics(text: string): readonly Measure[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (match === null) return [];
    const [, name = '', labels = '', value = ''] = match;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }]; // pairs of texts
  });
}

/** The sum over all label sets that pass. */
export function total(
  sample: Sample,
  name: string,
  passes: (labels: Measure['labels']) => boolean = () => true,
): number {
  let sum = 0;
  for (const measure of sample.measures) if (measure.name === name && passes(measure.labels)) sum += measure.value;
  return sum;
}

/** Growth per second between consecutive samples. A restart of the service resets counters to zero. */
export function rates(samples: readonly Sample[], read: (sample: Sample) => number): readonly number[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] ?? sample;
    const grown = read(sample) - read(before);
    return (grown < 0 ? read(sample) : grown) / Math.max(0.001, (sample.at - before.at) / 1000);
  });
}
