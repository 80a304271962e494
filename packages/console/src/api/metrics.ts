import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { send } from './call.ts';

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
const mostSamples = 60;

/** The metrics of the last minutes, looked at while the page is open. */
export function useSamples() {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const query = useQuery({
    queryKey: ['metrics'],
    queryFn: async ({ signal }): Promise<Sample> => {
      const text = await (await send('GET', '/metrics', { signal })).text();
      return { at: Date.now(), measures: readMetrics(text) };
    },
    refetchInterval: everyMs,
    staleTime: 0,
  });
  const { data } = query;
  useEffect(() => {
    if (data === undefined) return;
    setSamples((all) => (all.at(-1)?.at === data.at ? all : [...all, data].slice(-mostSamples)));
  }, [data]);
  return { samples, error: query.error, refetch: query.refetch };
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
