import { parseArgs } from 'node:util';
import type { VectorKind } from '../../packages/server/src/stores/search/vector-codes/testing/random-vectors.fixture.ts';
import type { Row } from '../table.ts';
import { measureRecall } from './recall-rows.ts';
import { measureService } from './vector-service.ts';

const kinds: readonly VectorKind[] = ['topics', 'similar', 'clusters', 'tight', 'uniform', 'positive'];

/**
 * Measures the index of vectors: recall against a comparison of all vectors, with filters and after deletions, and questions
 * over HTTP.
 */
export async function vectorBenches(folder: string, args: readonly string[]): Promise<Row[]> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: '1000,10000,100000' },
      dimensions: { type: 'string', default: '64,384' },
      kinds: { type: 'string', default: kinds.join() },
      service: { type: 'string', default: '100000x384' },
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
  for (const size of values.service.split(',').filter(Boolean)) {
    const [count = 0, dimensions = 0] = size.split('x').map(Number);
    rows.push(...(await measureService(folder, { count, dimensions })));
  }
  return rows;
}
