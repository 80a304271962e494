import { viewBytes } from '../../stores/search/embedding/vectors.ts';
import { type Candidates, compareNow, type ReadVector } from '../../stores/search/query/compare-candidates.ts';
import type { Near } from '../../stores/search/query/fuse.ts';
import type { ThreadStatements, ThreadValue } from './thread-statements.ts';

/** A comparison of vectors as a thread receives it. */
export interface ThreadComparison extends Candidates {
  readonly table: 'chunk_vector' | 'second_chunk_vector';
  readonly collectionId: string;
  readonly firstChange: number;
  /** An SQL condition on the rows `chunk` and `record`, or null. */
  readonly condition: { readonly sql: string; readonly parameters: readonly ThreadValue[] } | null;
}

/** Chunks with their cosines. Two arrays of numbers take less time in a message than an object for each chunk. */
export interface PackedNear {
  readonly seqs: Float64Array;
  readonly similarities: Float64Array;
}

export interface ThreadCompared {
  readonly nearest: PackedNear;
  readonly isComplete: boolean;
  readonly others: PackedNear;
}

/** Compares the vectors of visible chunks with a query in the thread of a connection, so that no vector leaves it. */
export function compareVectors(statements: ThreadStatements, comparison: ThreadComparison): ThreadCompared {
  const { nearest, isComplete, others } = compareNow(comparison, (seqs) => readVisible(statements, comparison, seqs));
  return { nearest: packNear(nearest), isComplete, others: packNear(others) };
}

function readVisible(
  statements: ThreadStatements,
  comparison: ThreadComparison,
  seqs: readonly number[],
): ReadVector[] {
  const { collectionId, firstChange, condition } = comparison;
  const values = [JSON.stringify(seqs), ...(condition?.parameters ?? []), collectionId, firstChange];
  const rows = statements.lists(selectVisibleVectors(comparison), ...values);
  return rows.map(([seq, vector]) => [seq as number, viewBytes(vector as Uint8Array)]); // as selected
}

/** Because of the cross joins, SQLite reads vectors last, and none of chunks that the question may not find. */
export function selectVisibleVectors({ table, condition }: Pick<ThreadComparison, 'table' | 'condition'>): string {
  return `select stored.seq, stored.vector from json_each(?) as wanted
    cross join chunk on chunk.seq = wanted.value left join record on record.id = chunk.record_id
    cross join ${table} as stored on stored.seq = chunk.seq
    where (chunk.record_id is null or (chunk.generation = record.generation and record.status <> 'deleting'))
    ${condition === null ? '' : `and ${condition.sql}`}
    and +stored.collection_id = ? and +stored.change > ? and stored.vector is not null`;
}

function packNear(near: readonly Near[]): PackedNear {
  return {
    seqs: Float64Array.from(near, ({ seq }) => seq),
    similarities: Float64Array.from(near, ({ similarity }) => similarity),
  };
}

export function unpackNear({ seqs, similarities }: PackedNear): Near[] {
  return Array.from(seqs, (seq, place) => ({ seq, similarity: similarities[place] as number }));
}
