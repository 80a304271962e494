import type { PageSource } from './open-vector-index.ts';
import type { TailVectors } from './page-protocol.ts';
import type { VectorPageRepository } from './vector-page-repository.ts';

/** Bytes of vectors that one statement reads, which takes a few milliseconds of the event loop. */
const bytesAtOnce = 2 ** 21;

/** Reads what the index needs from the repository. */
export function createPageSource(pages: VectorPageRepository): PageSource {
  return {
    listPages: (space) => pages.list(space),
    readPage: (id) => pages.read(id),
    readScan: (id) => pages.readScan(id),
    async *readTail(space, change): AsyncGenerator<TailVectors> {
      const { dimensions } = space;
      const limit = Math.ceil(bytesAtOnce / (dimensions * 4));
      for (let after = { change, seq: Number.MAX_SAFE_INTEGER }; ; ) {
        const rows = await pages.rowsAfter(space, after, limit);
        const last = rows.at(-1);
        if (last === undefined) return;
        after = { change: last.change, seq: last.seq };
        const withVector = rows.flatMap(({ seq, vector }) => (vector?.length === dimensions ? [{ seq, vector }] : []));
        if (withVector.length === 0) continue;
        const vectors = new Float32Array(withVector.length * dimensions);
        for (const [place, { vector }] of withVector.entries()) vectors.set(vector, place * dimensions);
        yield { seqs: Float64Array.from(withVector, ({ seq }) => seq), vectors };
      }
    },
  };
}
