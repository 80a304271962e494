import type { Kysely } from 'kysely';
import type { VectorSpace } from '../../../stores/search/embedding/vector-index.ts';
import { viewBytes } from '../../../stores/search/embedding/vectors.ts';
import type { VectorBatch } from '../../../stores/search/vector-codes/open-vector-thread.ts';
import type { Tables } from '../../database/tables.ts';
import { asChunkVector } from './vector-sets.ts';

/** Bytes of vectors that one statement reads, which takes a few milliseconds of the event loop. */
const bytesAtOnce = 2 ** 20;

/** Reads the vectors of later changes up to the last one of the space, in the order of changes and seqs. */
export async function* readVectorsAfter(
  read: Kysely<Tables>,
  { collectionId, slot, dimensions, lastChange }: VectorSpace,
  after: number,
): AsyncGenerator<VectorBatch> {
  const limit = Math.ceil(bytesAtOnce / (dimensions * 4));
  for (let last = { change: after, seq: Number.MAX_SAFE_INTEGER }; ; ) {
    const rows = await read
      .selectFrom(asChunkVector(slot))
      .select(['seq', 'change', 'vector'])
      .where('collection_id', '=', collectionId)
      .where((where) => where(where.refTuple('change', 'seq'), '>', where.tuple(last.change, last.seq)))
      .where('change', '<=', lastChange)
      .orderBy('change')
      .orderBy('seq')
      .limit(limit)
      .execute();
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end;
    // A text without a vector has null.
    const found = rows.flatMap(({ seq, vector }) => (vector?.length === dimensions * 4 ? [{ seq, vector }] : []));
    const vectors = new Float32Array(found.length * dimensions);
    for (const [place, { vector }] of found.entries()) vectors.set(viewBytes(vector), place * dimensions);
    if (found.length > 0) yield { seqs: Float64Array.from(found, ({ seq }) => seq), vectors };
  }
}
