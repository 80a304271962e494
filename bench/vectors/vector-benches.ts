import { parseArgs } from 'node:util';
import type { VectorKind } from '../../packages/server/src/stores/search/vector-codes/testing/random-vectors.fixture.ts';
import type { Row } from '../table.ts';
import { measureRecall } from './recall-rows.ts';

const kinds: readonly VectorKind[] = ['topics', 'similar', 'clusters', 'tight', 'uniform', 'positive'];

/**
 * Measures the index of vectors: recall against a comparison of all vectors, with filters and after deletions. The bench
 * `peers` asks over HTTP.
 */
export async function vectorBenches(args: readonly string[]): Promise<Row[]> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: '1000,10000,100000' },
      dimensions: { type: 'string', default: '64,384' },
      kinds: { type: 'string', default: kinds.join() },
    },
  });
  const numbers = (list: string) => list.split(',').filter(Boolean).map(Number);
  const rows: Row[] = [];
  for (const dimensions of numbers(values.dimensions)) {
    for (const count of numbers(values.sizes)) {
      for (const kind of kinds.filter((each) => values.kinds.split(',').includes(each))) {
        rows.push(await measureRecall({ kind, count, dimensions }));
      }
    }
  }
  return rows;
}
