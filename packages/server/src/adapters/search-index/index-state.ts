import type { ThreadStatements } from './thread-statements.ts';

/** The indexes that a change of a collection's chunks must reach. */
export interface IndexState {
  /** The index of an earlier version answers. Segments do so otherwise. */
  readonly hasOldIndex: boolean;
  /** A rebuild has read the chunks up to this id; null when none is in progress. */
  readonly reached: string | null;
}

export interface SqliteIndexState extends IndexState {
  /** The index of FTS5 still has rows of the collection. */
  readonly hasOldRows: boolean;
}

export function readIndexState(statements: ThreadStatements, collectionId: string): SqliteIndexState {
  const [found] = statements.all<{ old: number; rows: number; reached: string | null }>(
    `select exists (select 1 from full_text where collection_id = ?1) as old,
      exists (select 1 from full_text_place where collection_id = ?1) as rows,
      (select reached from index_rebuild where collection_id = ?1) as reached`,
    collectionId,
  );
  return { hasOldIndex: found?.old === 1, hasOldRows: found?.rows === 1, reached: found?.reached ?? null };
}
