import type { Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import { createFirstMigration } from './migrations/0001-first.ts';
import { createRowsMigration } from './migrations/0002-rows.ts';
import { createAdministratorsMigration } from './migrations/0010-administrators.ts';
import { createMadeMigration } from './migrations/0011-made.ts';
import { createRunsMigration } from './migrations/0011-runs.ts';
import { createVectorsMigration } from './migrations/0012-vectors.ts';
import { createCredentialProfilesMigration } from './migrations/0013-credential-profiles.ts';
import { createRunRequestsMigration } from './migrations/0017-run-requests.ts';
import { createProjectUsageMigration } from './migrations/0019-project-usage.ts';
import { createSharedFullTextMigration } from './migrations/0020-shared-full-text.ts';
import { createPairKeysMigration } from './migrations/0021-pair-keys.ts';
import { createBlobDamageMigration } from './migrations/0022-blob-damage.ts';
import { createStoreMigration } from './migrations/0024-store.ts';
import { createProcessesMigration } from './migrations/0026-processes.ts';
import { createWorkTimeMigration } from './migrations/0027-work-time.ts';
import { createRecordTurnsMigration } from './migrations/0028-record-turns.ts';
import { createRefusedTextsMigration } from './migrations/0029-refused-texts.ts';
import { createRefreshClaimsMigration } from './migrations/0031-refresh-claims.ts';
import { createConsoleTokensMigration } from './migrations/0032-console-tokens.ts';
import { createKeyMakersMigration } from './migrations/0033-key-makers.ts';
import { createAnswerGuardsMigration } from './migrations/0034-answer-guards.ts';
import { createKeyChangesMigration } from './migrations/0035-key-changes.ts';
import { createKeptAnswerBytesMigration } from './migrations/0036-kept-answer-bytes.ts';
import { createSessionListMigration } from './migrations/0037-session-list.ts';
import { createFileCountsMigration } from './migrations/0039-file-counts.ts';
import { createArtifactsMigration } from './migrations/from-0042/0042-artifacts.ts';
import { createKeyToolsMigration } from './migrations/from-0042/0043-key-tools.ts';
import { createIndexSegmentsMigration } from './migrations/from-0042/0044-index-segments.ts';
import { createIndexRebuildsMigration } from './migrations/from-0042/0045-index-rebuilds.ts';
import { createIndexSegmentExpiryMigration } from './migrations/from-0042/0046-index-segment-expiry.ts';
import { createEmbeddingFailuresMigration } from './migrations/from-0042/0050-embedding-failures.ts';
import { createChangedRecordMetadataMigration } from './migrations/from-0042/0052-changed-record-metadata.ts';
import { createUnusedPostingsMigration } from './migrations/from-0042/0053-unused-postings.ts';
import { createChunkIdIndexMigration } from './migrations/from-0042/0057-chunk-id-index.ts';
import { createSimilarityScalesMigration } from './migrations/from-0042/0060-similarity-scales.ts';
import { createCollectionRetrievalMigration } from './migrations/from-0042/0061-collection-retrieval.ts';
import { refreshedRecordsMigration } from './migrations/from-0042/0062-refreshed-records.ts';
import { createVectorPagesMigration } from './migrations/from-0042/0063-vector-pages.ts';
import { createEmbeddingWalksMigration } from './migrations/from-0042/0066-embedding-walks.ts';
import { createEmbeddingCountsMigration } from './migrations/from-0042/0067-embedding-counts.ts';
import { createVectorSetsMigration } from './migrations/from-0042/0070-vector-sets.ts';
import { sheetColumnsMigration } from './migrations/from-0042/0078-sheet-columns.ts';
import { createSegmentPositionsMigration } from './migrations/from-0042/0079-segment-positions.ts';
import { createChunkTokensMigration } from './migrations/from-0042/0081-chunk-tokens.ts';
import { embeddingPauseMigration } from './migrations/from-0042/0091-embedding-pause.ts';
import { createTextKeysMigration } from './migrations/from-0042/0092-text-keys.ts';
import { collectionChunkingMigration } from './migrations/from-0042/0094-collection-chunking.ts';
import { recordPasswordsMigration } from './migrations/from-0042/0098-record-passwords.ts';
import { scanBoxesMigration } from './migrations/from-0042/0101-scan-boxes.ts';
import { recordStatusesMigration } from './migrations/from-0042/0102-record-statuses.ts';
import { createNodesMigration } from './migrations/from-0042/0104-nodes.ts';
import { createRecordBytesMigration } from './migrations/from-0042/0107-record-bytes.ts';
import { createIdempotencyCallersMigration } from './migrations/from-0042/0108-idempotency-callers.ts';
import { createDirectChunkBytesMigration } from './migrations/from-0042/0109-direct-chunk-bytes.ts';
import { createRecordKeysMigration } from './migrations/from-0042/0110-record-keys.ts';
import { newerStore } from './problems.ts';
import type { Tables } from './tables.ts';

/** All migrations in the order of their names. A published name never changes. */
export function migrationsFor(dialect: Database['dialect']): Record<string, Migration> {
  return {
    '0001-first': createFirstMigration(dialect),
    '0002-rows': createRowsMigration(dialect),
    '0010-administrators': createAdministratorsMigration(dialect),
    '0011-made': createMadeMigration(),
    '0011-runs': createRunsMigration(dialect),
    '0012-vectors': createVectorsMigration(dialect),
    '0013-credential-profiles': createCredentialProfilesMigration(dialect),
    '0017-run-requests': createRunRequestsMigration(dialect),
    '0019-project-usage': createProjectUsageMigration(dialect),
    '0020-shared-full-text': createSharedFullTextMigration(dialect),
    '0021-pair-keys': createPairKeysMigration(dialect),
    '0022-blob-damage': createBlobDamageMigration(dialect),
    '0024-store': createStoreMigration(dialect),
    '0026-processes': createProcessesMigration(dialect),
    '0027-work-time': createWorkTimeMigration(dialect),
    '0028-record-turns': createRecordTurnsMigration(dialect),
    '0029-refused-texts': createRefusedTextsMigration(),
    '0031-refresh-claims': createRefreshClaimsMigration(dialect),
    '0032-console-tokens': createConsoleTokensMigration(),
    '0033-key-makers': createKeyMakersMigration(dialect),
    '0034-answer-guards': createAnswerGuardsMigration(dialect),
    '0035-key-changes': createKeyChangesMigration(dialect),
    '0036-kept-answer-bytes': createKeptAnswerBytesMigration(dialect),
    '0037-session-list': createSessionListMigration(dialect),
    '0039-file-counts': createFileCountsMigration(dialect),
    '0042-artifacts': createArtifactsMigration(dialect),
    '0043-key-tools': createKeyToolsMigration(),
    '0044-index-segments': createIndexSegmentsMigration(dialect),
    '0045-index-rebuilds': createIndexRebuildsMigration(dialect),
    '0046-index-segment-expiry': createIndexSegmentExpiryMigration(dialect),
    '0050-embedding-failures': createEmbeddingFailuresMigration(dialect),
    '0052-changed-record-metadata': createChangedRecordMetadataMigration(dialect),
    '0053-unused-postings': createUnusedPostingsMigration(dialect),
    '0057-chunk-id-index': createChunkIdIndexMigration(dialect),
    '0060-similarity-scales': createSimilarityScalesMigration(dialect),
    '0061-collection-retrieval': createCollectionRetrievalMigration(),
    '0062-refreshed-records': refreshedRecordsMigration,
    '0063-vector-pages': createVectorPagesMigration(dialect),
    '0066-embedding-walks': createEmbeddingWalksMigration(dialect),
    '0067-embedding-counts': createEmbeddingCountsMigration(dialect),
    '0070-vector-sets': createVectorSetsMigration(dialect),
    '0078-sheet-columns': sheetColumnsMigration,
    '0079-segment-positions': createSegmentPositionsMigration(dialect),
    '0081-chunk-tokens': createChunkTokensMigration(dialect),
    '0091-embedding-pause': embeddingPauseMigration,
    '0092-text-keys': createTextKeysMigration(dialect),
    '0094-collection-chunking': collectionChunkingMigration,
    '0098-record-passwords': recordPasswordsMigration,
    '0101-scan-boxes': scanBoxesMigration,
    '0102-record-statuses': recordStatusesMigration,
    '0104-nodes': createNodesMigration(dialect),
    '0107-record-bytes': createRecordBytesMigration(dialect),
    '0108-idempotency-callers': createIdempotencyCallersMigration(dialect),
    '0109-direct-chunk-bytes': createDirectChunkBytesMigration(dialect),
    '0110-record-keys': createRecordKeysMigration(dialect),
  };
}

/** The table that every store has. */
export const migrationTable = 'schema_migration';
type WithMigrations = Tables & { schema_migration: { name: string; timestamp: string } };

/**
 * Migrates the tables to this version, completely or not at all. Several processes may call it at the same time. The
 * second waits (SQLite: BEGIN IMMEDIATE, PostgreSQL: an advisory lock) and then finds nothing to do.
 * @throws when a newer version has already changed the database.
 */
export async function migrate(db: Kysely<Tables>, dialect: Database['dialect']): Promise<void> {
  const migrations = migrationsFor(dialect);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: migrationTable,
    migrationLockTableName: 'schema_migration_lock',
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const unknown = await findUnknownMigrations(db, Object.keys(migrations)).catch(() => []);
  if (unknown.length > 0) throw newerStore(unknown);
  throw new Error('The migration of the database failed.', { cause: error });
}

async function findUnknownMigrations(db: Kysely<Tables>, known: readonly string[]): Promise<string[]> {
  const rows = await db
    .withTables<Pick<WithMigrations, 'schema_migration'>>()
    .selectFrom(migrationTable)
    .select('name')
    .execute();
  return rows.map((row) => row.name).filter((name) => !known.includes(name));
}
