import { viewBytes } from '../../../stores/search/embedding/vectors.ts';
import {
  type ComparedChunks,
  compareCandidates,
  type ReadVector,
} from '../../../stores/search/query/compare-candidates.ts';
import type { VectorComparison } from '../../../stores/search/vector-repository.ts';
import type { Database } from '../../database/database.ts';
import { metadataFilter } from '../../database/metadata-filter.ts';
import { visibleRows } from '../../database/visible-chunks.ts';
import { unpackNear } from '../../search-index/compare-vectors.ts';
import { compareInThread } from '../../search-index/search-thread.ts';
import type { ThreadValue } from '../../search-index/thread-statements.ts';
import { asChunkVector, vectorTable } from './vector-sets.ts';

/** The maximum number of candidates in one message. More would delay the other questions of the thread for too long. */
const mostInMessage = 4_096;

/** Compares stored vectors with a query, by one message to a thread of SQLite or by one statement for each part. */
export async function compareVectors(database: Database, comparison: VectorComparison): Promise<ComparedChunks> {
  if (database.dialect === 'sqlite' && comparison.near.seqs.length <= mostInMessage) {
    return await compareInMessage(database, comparison);
  }
  const parts = compareCandidates(comparison);
  let step = parts.next();
  while (step.done !== true) step = parts.next(await readVisible(database, comparison, step.value));
  return step.value;
}

async function compareInMessage(
  { read }: Database,
  { space, filter, ...candidates }: VectorComparison,
): Promise<ComparedChunks> {
  const condition = filter === undefined ? null : metadataFilter('sqlite', filter).compile(read);
  const { nearest, isComplete, others } = await compareInThread(read, {
    ...candidates,
    ...{ table: vectorTable(space.slot), collectionId: space.collectionId, firstChange: space.firstChange },
    // Kysely types parameters as unknown; those of a filter are strings, numbers and texts of booleans.
    condition: condition && { sql: condition.sql, parameters: condition.parameters as ThreadValue[] },
  });
  return { nearest: unpackNear(nearest), isComplete, others: unpackNear(others) };
}

/** Reads the vectors of the chunks that the question may find. */
async function readVisible(
  { dialect, read }: Database,
  { space, filter }: VectorComparison,
  seqs: readonly number[],
): Promise<ReadVector[]> {
  const rows = await visibleRows(read, seqs, { dialect, filter })
    .innerJoin(asChunkVector(space.slot), 'chunk_vector.seq', 'chunk.seq')
    .select(['chunk_vector.seq', 'chunk_vector.vector'])
    .where('chunk_vector.collection_id', '=', space.collectionId)
    .where('chunk_vector.change', '>', space.firstChange)
    .execute();
  return rows.flatMap(({ seq, vector }): ReadVector[] => (vector === null ? [] : [[seq, viewBytes(vector)]]));
}
