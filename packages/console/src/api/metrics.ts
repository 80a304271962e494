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
/** The first ones come sooner: a rate needs two. */
const firstMs = 1000;
const firstSamples = 4;
const mostSamples = 60;

/** The metrics of the last minutes, looked at while the page is open; kept a while for when it is opened again. */
export function useSamples() {
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

/** The sum over all labels that pass. */
export function total(
  sample: Sample,
  name: string,
  passes: (labels: Measure['labels']) => boolean = () => true,
): number {
  let sum = 0;
  for (const measure of sample.measures) if (measure.name === name && passes(measure.labels)) sum += measure.value;
  return sum;
}

/** Growth a second between samples that follow each other; a restart counts from nothing. */
export function rates(samples: readonly Sample[], read: (sample: Sample) => number): readonly number[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] ?? sample;
    const grown = read(sample) - read(before);
    return (grown < 0 ? read(sample) : grown) / Math.max(0.001, (sample.at - before.at) / 1000);
  });
}
