import type { Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import { createBaseline } from './migrations/0001-baseline.ts';
import { createProjectDeletionTable } from './migrations/0002-project-deletion.ts';
import { createLimitedKeys } from './migrations/0003-limited-keys.ts';
import { createOauthTables } from './migrations/0004-oauth.ts';
import { createAccounts } from './migrations/0005-accounts.ts';
import { createAuditTable } from './migrations/0006-audit-log.ts';
import { createRateLimits } from './migrations/0007-rate-limits.ts';
import { addReplacedKeys } from './migrations/0008-replaced-keys.ts';
import { createOauthRecordIndex } from './migrations/0009-oauth-records-of-grants.ts';
import { addAdministratorSource } from './migrations/0010-administrator-source.ts';
import { createBundleArchives } from './migrations/0011-bundle-archives.ts';
import { createConnections } from './migrations/0012-connections.ts';
import { createObjectStorage } from './migrations/0013-object-storage.ts';
import { createNodes } from './migrations/0014-nodes.ts';
import { createTrustedPublisherTable } from './migrations/0015-trusted-publishers.ts';
import { addClaimNodes } from './migrations/0016-claim-nodes.ts';
import { addRestorableRecords } from './migrations/0017-restorable-records.ts';
import { createEvaluationTable } from './migrations/0018-evaluations.ts';
import { addEvaluationResults } from './migrations/0019-evaluation-results.ts';
import { replacePairKeys } from './migrations/0020-pair-key-view.ts';
import { boundPlans } from './migrations/0021-bounded-plans.ts';
import { earlierStore, movedStore, newerStore, olderStore, unfinishedMove } from './problems.ts';
import type { Tables } from './tables.ts';

type Migrations = Readonly<Record<string, Migration>>;

const baseline = '0001-baseline';

/** It sorts after all migrations. */
const moveOf = '9999-unfinished-move-of-';
/** The source of a move has a row with this name and the new place. Older versions refuse it, too. */
const movedTo = '9999-moved-to-';

/**
 * All migrations in the order of their names. A published name never changes.
 * @param movedStore the id of the store that a move copies into the database. A last migration then changes nothing, but until `endMove`
 * removes its name, only the same move can open the database.
 */
export function migrationsFor(dialect: Database['dialect'], movedStore?: string): Migrations {
  return {
    [baseline]: createBaseline(dialect),
    '0002-project-deletion': createProjectDeletionTable(dialect),
    '0003-limited-keys': createLimitedKeys(dialect),
    '0004-oauth': createOauthTables(dialect),
    '0005-accounts': createAccounts(dialect),
    '0006-audit-log': createAuditTable(dialect),
    '0007-rate-limits': createRateLimits(dialect),
    '0008-replaced-keys': addReplacedKeys,
    '0009-oauth-records-of-grants': createOauthRecordIndex(),
    '0010-administrator-source': addAdministratorSource,
    '0011-bundle-archives': createBundleArchives(dialect),
    '0012-connections': createConnections(dialect),
    '0013-object-storage': createObjectStorage(dialect),
    '0014-nodes': createNodes(dialect),
    '0015-trusted-publishers': createTrustedPublisherTable(dialect),
    '0016-claim-nodes': addClaimNodes(dialect),
    '0017-restorable-records': addRestorableRecords,
    '0018-evaluations': createEvaluationTable(dialect),
    '0019-evaluation-results': addEvaluationResults,
    '0020-pair-key-view': replacePairKeys(dialect),
    '0021-bounded-plans': boundPlans,
    ...(movedStore !== undefined && { [moveOf + movedStore]: { up: async () => {} } }),
  };
}

/** Lets services open a database that a move has filled. */
export async function endMove(db: Kysely<Tables>, storeId: string): Promise<void> {
  const rows = db.withTables<Pick<WithMigrations, 'schema_migration'>>().deleteFrom(migrationTable);
  await rows.where('name', '=', moveOf + storeId).execute();
}

/** @returns whether a move from the store with this id fills the database with these migrations */
export function isFilledByMove(found: readonly string[], storeId: string): boolean {
  return found.includes(moveOf + storeId);
}

/** The name of the row that says where a store was moved. */
export const movedName = (place: string) => (movedTo + place).slice(0, 255);

/**
 * @param place the target of a move that continues
 * @throws when the tables are not exactly those of this version, or the store was moved to another place
 */
export function assertCurrentStore(found: readonly string[], dialect: Database['dialect'], place: string): void {
  const known = Object.keys(migrationsFor(dialect));
  assertKnownStore(found, [...known, movedName(place)]);
  const missing = known.filter((name) => !found.includes(name));
  if (missing.length > 0) throw olderStore(missing);
}

/** The table that every store has. */
export const migrationTable = 'schema_migration';
type WithMigrations = Tables & { schema_migration: { name: string; timestamp: string } };

/**
 * Migrates the tables to this version, completely or not at all. Several processes may call it at the same time. The
 * second waits (SQLite: BEGIN IMMEDIATE, PostgreSQL: an advisory lock) and then finds nothing to do.
 * @throws when an unreleased version has created the database, or a newer version has already changed it
 */
export async function migrate(
  db: Kysely<Tables>,
  dialect: Database['dialect'],
  migrations: Migrations = migrationsFor(dialect),
): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: migrationTable,
    migrationLockTableName: 'schema_migration_lock',
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  assertKnownStore(await listMigrations(db).catch(() => []), Object.keys(migrations));
  throw new Error('The migration of the database failed.', { cause: error });
}

async function listMigrations(db: Kysely<Tables>): Promise<string[]> {
  const rows = db.withTables<Pick<WithMigrations, 'schema_migration'>>().selectFrom(migrationTable).select('name');
  return (await rows.execute()).map((row) => row.name);
}

/**
 * Checks the names of the migrations in a database.
 * @throws when an unreleased version has created the database, or a newer version has changed it
 */
export function assertKnownStore(found: readonly string[], known: readonly string[]): void {
  assertReadableStore(found);
  const unknown = found.filter((name) => !known.includes(name));
  const moved = unknown.find((name) => name.startsWith(movedTo));
  if (moved !== undefined) throw movedStore(moved.slice(movedTo.length), migrationTable);
  if (unknown.some((name) => name.startsWith(moveOf))) throw unfinishedMove();
  if (unknown.length > 0) throw newerStore(unknown);
}

/** Checks the names of the migrations in a database. @throws when an unreleased version has created the database */
export function assertReadableStore(found: readonly string[]): void {
  if (found.length > 0 && !found.includes(baseline)) throw earlierStore();
}
