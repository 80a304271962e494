import { parseJson } from '../../kernel/json/parse-json.ts';
import { countFieldTerms } from '../../search/analysis/field-terms.ts';
import { type FilteredChunk, listFilterTerms } from '../../search/filter-terms.ts';
import type { IndexedChunk } from '../../search/search-index.ts';
import type { ThreadStatements } from './thread-statements.ts';
import { insertChunks } from './write-segments.ts';

/**
 * The maximum number of chunks that one step reads, and of characters except those of its first chunk, so that other
 * writers do not wait for long.
 */
const limits = { chunks: 500, characters: 40_000 } as const;

/**
 * Does one step of the rebuild of a collection's index, in a write transaction. The first step begins the rebuild. Each
 * further step builds a segment of some chunks, which no question reads. When no chunk is left, the last step replaces
 * the old index. A step that is interrupted has no effect, so that the next process repeats it.
 * @returns true when the new index answers, or the collection is not there any more
 */
export function rebuildSome(statements: ThreadStatements, collectionId: string): boolean {
  const [rebuild] = statements.all<{ reached: string }>(
    'select reached from index_rebuild where collection_id = ?',
    collectionId,
  );
  if (rebuild === undefined) return !begin(statements, collectionId);
  const rows = readChunks(statements, collectionId, rebuild.reached);
  const last = rows.at(-1);
  if (last === undefined) {
    replaceIndex(statements, collectionId);
    return true;
  }
  const chunks = rows.map(toIndexed);
  insertChunks(statements, { collectionId, chunks, state: 'rebuilt' });
  statements.run(
    'update index_rebuild set reached = ?, chunks = chunks + ? where collection_id = ?',
    ...[last.id, rows.length, collectionId],
  );
  return false;
}

/** @returns false when the collection does not exist or is being deleted */
function begin(statements: ThreadStatements, collectionId: string): boolean {
  const found = statements.all("select 1 from collection where id = ? and status = 'ready'", collectionId);
  if (found.length === 0) return false;
  // The rebuild reads these metadata. A later change sets the mark to 1 again.
  setMetadataMark(statements, collectionId, { from: 1, to: 2 });
  statements.run("insert into index_rebuild (collection_id, reached, chunks) values (?, '', 0)", collectionId);
  return true;
}

function setMetadataMark(
  statements: ThreadStatements,
  collectionId: string,
  { from, to }: { from: number; to: number },
) {
  statements.run(
    'update record set metadata_changed = ? where collection_id = ? and metadata_changed = ?',
    ...[to, collectionId, from],
  );
}

interface ChunkRow {
  readonly seq: number;
  readonly id: string;
  readonly content: string;
  readonly question: string | null;
  readonly record_id: string | null;
  readonly metadata: string;
  readonly record_metadata: string | null;
}

function toIndexed({ seq, content, question, record_id: recordId, ...row }: ChunkRow): IndexedChunk {
  const metadata = parseJson(row.metadata) as FilteredChunk['metadata']; // an object, as is that of the record
  const recordMetadata = parseJson(row.record_metadata ?? '{}') as FilteredChunk['recordMetadata'];
  return {
    seq,
    words: countFieldTerms({ content, ...(question === null ? {} : { question }) }),
    filterTerms: listFilterTerms({ recordId, metadata, recordMetadata }),
  };
}

/** Reads the next chunks in the order of their ids. */
function readChunks(statements: ThreadStatements, collectionId: string, reached: string): ChunkRow[] {
  const rows = statements.all<ChunkRow>(
    `select chunk.seq, chunk.id, chunk.content, chunk.question, chunk.record_id, chunk.metadata, record.metadata as record_metadata
      from chunk left join record on record.id = chunk.record_id
      where chunk.collection_id = ? and chunk.id > ? order by chunk.id limit ?`,
    ...[collectionId, reached, limits.chunks],
  );
  let characters = 0;
  const end = rows.findIndex(({ content }, at) => {
    characters += content.length;
    return at > 0 && characters > limits.characters;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

function replaceIndex(statements: ThreadStatements, collectionId: string): void {
  const setState = 'update index_segment set state = ? where collection_id = ? and state = ?';
  statements.run(setState, 'retired', collectionId, 'live');
  statements.run(setState, 'live', collectionId, 'rebuilt');
  setMetadataMark(statements, collectionId, { from: 2, to: 0 });
  statements.run('delete from index_rebuild where collection_id = ?', collectionId);
  // Without this row, questions no longer find the index of an earlier version.
  statements.run('delete from full_text where collection_id = ?', collectionId);
}
