import { useQuery, useQueryClient } from '@tanstack/react-query';
import { filesApi } from './addresses.ts';
import { addSample, type Measure, type Sample } from './metric-history.ts';

const everyMs = 5000;
/** The first samples come sooner, because a rate needs two. */
const firstMs = 1000;
const firstSamples = 4;
const storageKey = 'quartermaster-samples';

/** Samples of the metrics, taken while the page is open. The tab keeps them, so that a reload goes on with them. */
export function useSamples(enabled: boolean) {
  const queries = useQueryClient();
  const queryKey = ['metrics'];
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<readonly Sample[]> => {
      const text = await (await filesApi.send('GET /metrics', { signal })).text();
      const before = queries.getQueryData<readonly Sample[]>(queryKey) ?? storedSamples();
      const samples = addSample(before, { at: Date.now(), measures: readMetrics(text) });
      sessionStorage.setItem(storageKey, JSON.stringify(samples.slice(0, -1)));
      return samples;
    },
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) < firstSamples ? firstMs : everyMs),
    enabled,
    staleTime: 0,
    structuralSharing: false,
  });
  return { samples: query.data ?? [], error: query.error, refetch: query.refetch };
}

function storedSamples(): readonly Sample[] {
  return JSON.parse(sessionStorage.getItem(storageKey) ?? '[]') as Sample[]; // written above
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
