import { createLogger } from '../../packages/server/src/platform/log/logger.ts';
import { compareNow } from '../../packages/server/src/stores/search/query/compare-candidates.ts';
import { findNearestChunks } from '../../packages/server/src/stores/search/query/retrieve.ts';
import { openVectorIndex } from '../../packages/server/src/stores/search/vector-codes/open-vector-index.ts';
import {
  createVectors,
  findNearest,
  type VectorKind,
} from '../../packages/server/src/stores/search/vector-codes/testing/random-vectors.fixture.ts';
import type { VectorComparison } from '../../packages/server/src/stores/search/vector-repository.ts';
import type { Row } from '../table.ts';

interface VectorSet {
  readonly kind: VectorKind;
  readonly count: number;
  readonly dimensions: number;
}

const questions = 20;
const bars = { ten: 0.98, fifty: 0.95 };
/** The shares of vectors that a question may find: all, those of filters, and what is left after a deletion of half. */
const shares = [
  ['all', () => true],
  ['50 %', (seq: number) => seq % 2 === 0],
  ['5 %', (seq: number) => seq % 20 === 0],
  ['.5 %', (seq: number) => seq % 200 === 0],
  ['half deleted', (seq: number) => seq % 4 < 2],
] as const;

/** Measures recall with each share, and the processor time of questions in the process, without HTTP and database. */
export async function measureRecall(set: VectorSet): Promise<Row> {
  const { vectors, queries } = createVectors(set.kind, set);
  const opened = await openIndex(vectors);
  const asked = queries(questions);
  const cells: string[] = [];
  let isMet = true;
  for (const [name, isVisible] of shares) {
    const visible = vectors.map((vector, seq) => (isVisible(seq) ? vector : null));
    let [ten, fifty, wantedTen, wantedFifty] = [0, 0, 0, 0];
    for (const query of asked) {
      const found = new Set(await opened.ask(query, isVisible));
      const exact = findNearest(visible, query, 50);
      ten += exact.slice(0, 10).filter((seq) => found.has(seq)).length;
      fifty += exact.filter((seq) => found.has(seq)).length;
      wantedTen += Math.min(10, exact.length);
      wantedFifty += exact.length;
    }
    cells.push(`${name} ${(ten / wantedTen).toFixed(3)} ${(fifty / wantedFifty).toFixed(3)}`);
    isMet &&= ten / wantedTen >= bars.ten && fifty / wantedFifty >= bars.fifty;
  }
  const began = process.cpuUsage();
  for (let round = 0; round < 5; round++) for (const query of asked) await opened.ask(query, () => true);
  const { user, system } = process.cpuUsage(began);
  await opened.close();
  return {
    bench: `vectors ${set.kind} ${set.count} x ${set.dimensions}`,
    ours: `recall@10 @50: ${cells.join(', ')}; ${((user + system) / 1000 / (5 * questions)).toFixed(2)} ms`,
    floor: '',
    bar: `${bars.ten} ${bars.fifty}`,
    met: isMet,
  };
}

const vectorsPerBatch = 1024;

/** Opens an index over vectors in memory, whose seqs are their places. */
async function openIndex(vectors: readonly Float32Array[]) {
  const dimensions = vectors[0]?.length ?? 0;
  async function* readVectors() {
    for (let from = 0; from < vectors.length; from += vectorsPerBatch) {
      const part = vectors.slice(from, from + vectorsPerBatch);
      const joined = new Float32Array(part.length * dimensions);
      for (const [place, vector] of part.entries()) joined.set(vector, place * dimensions);
      yield { seqs: Float64Array.from(part, (_, place) => from + place), vectors: joined };
    }
  }
  const index = openVectorIndex({ readVectors, memory: 2 ** 31, logger: createLogger('silent'), waitMs: 600_000 });
  const changes = { firstChange: 0, lastChange: 1, count: vectors.length };
  const space = { collectionId: 'c', slot: 0, dimensions, ...changes } as const;
  await index.load(space);
  return {
    async ask(query: Float32Array, isVisible: (seq: number) => boolean): Promise<number[]> {
      const read = (seqs: readonly number[]) =>
        seqs.filter(isVisible).map((seq) => [seq, vectors[seq] as Float32Array] as const);
      const stored = { compare: async (of: VectorComparison) => compareNow(of, read) };
      const asked = { space, query, limit: 50, filter: undefined, others: [] };
      const near = await findNearestChunks({ vectors: stored, index }, asked);
      return (near?.nearest ?? []).map(({ seq }) => seq);
    },
    close: () => index.close(),
  };
}
