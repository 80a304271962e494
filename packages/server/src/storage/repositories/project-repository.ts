import type { Scope } from '@quartermaster/contract';
import { type ExpressionBuilder, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { ProjectRepository, StoredKey } from '../../access/projects/project-repository.ts';
import type { Database } from '../database/database.ts';
import { assertNotDeleted } from '../database/deleted-projects.ts';
import { isOwned, type KeysetWindow, readKeysetPage, rowsWithin } from '../database/keyset-page.ts';
import { areAtLeast, countRows } from '../database/row-limit.ts';
import { fromRow, toRow } from '../database/row-names.ts';
import type { KeyTable, Tables } from '../database/tables.ts';

/** Stores projects and keys in either database. */
export function createProjectRepository(database: Database): ProjectRepository {
  const { read, write, dialect } = database;
  return {
    listProjects: async () => (await projects(read).orderBy('id').execute()).map(toProject),
    findProject: async (projectId) => {
      const row = await projects(read).where('id', '=', projectId).executeTakeFirst();
      return row === undefined ? undefined : toProject(row);
    },
    addProject: (project, { most, key, beforeCommit }) =>
      write.transaction().execute(async (transaction) => {
        // The change is numbered even without a key, so that two requests cannot both take the last place for a
        // project.
        const change = await nextChange(transaction);
        const projects = transaction.selectFrom('project').select('id');
        if ((await projects.where('name', '=', project.name).executeTakeFirst()) !== undefined) return 'taken';
        if (await areAtLeast(projects.orderBy('id'), most)) return 'full';
        const row = { id: project.id, name: project.name, created_at: project.createdAt };
        await transaction.insertInto('project').values(row).execute();
        if (key !== undefined) await insertKey(transaction, key, change);
        await beforeCommit?.();
        return 'added';
      }),
    setRunInputs: (projectId, runInputs) =>
      write.transaction().execute(async (transaction) => {
        const project = projects(transaction).where('id', '=', projectId);
        if ((await project.executeTakeFirst()) === undefined) return false;
        await nextChange(transaction);
        await transaction.deleteFrom('input_keeper').where('project_id', '=', projectId).execute();
        if (runInputs === 'keep') {
          await transaction.insertInto('input_keeper').values({ project_id: projectId }).execute();
        }
        return true;
      }),
    projectsThatKeepInputs: async () => {
      const rows = await read.selectFrom('input_keeper').select('project_id').execute();
      return rows.map((row) => row.project_id);
    },
    listKeys: async (projectId) => {
      let query = read.selectFrom('api_key').selectAll().orderBy('id');
      if (projectId !== undefined) query = query.where('project_id', '=', projectId);
      return (await query.execute()).map(toKey);
    },
    pageOfKeys: async (projectId, query) => {
      const keys = read.selectFrom('api_key').selectAll();
      const owned = { dialect, by: { project_id: projectId } };
      const readPage = (window: KeysetWindow) => rowsWithin(keys, window, { owned }).execute();
      const page = await readKeysetPage(query, readPage, () => countRows(read, keys.where(isOwned(owned))));
      return { ...page, items: page.items.map(toKey) };
    },
    findKey: async (keyId) => {
      const row = await read.selectFrom('api_key').selectAll().where('id', '=', keyId).executeTakeFirst();
      return row === undefined ? undefined : toKey(row);
    },
    findKeyByHash: async (hash) => {
      const row = await read.selectFrom('api_key').selectAll().where('hash', '=', hash).executeTakeFirst();
      return row === undefined ? undefined : toKey(row);
    },
    findCollections: async (projectId, ids) => {
      const ready = read.selectFrom('collection').select('id').where('project_id', '=', projectId);
      const rows = await ready.where('status', '=', 'ready').where('id', 'in', ids).execute();
      return rows.map(({ id }) => id);
    },
    ...usableKeyRows(database),
    ...keyChanges(database),
    touchKeys: (uses) =>
      write.transaction().execute(async (transaction) => {
        // Runs one statement per key in one transaction. This is cheap: it is called once per second, with only the keys used since the last call.
        for (const [keyId, at] of uses) {
          await transaction
            .updateTable('api_key')
            .set({ last_used_at: at })
            .where('id', '=', keyId)
            .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<', at)]))
            .execute();
        }
      }),
  };
}

/** Projects that are not being deleted. */
export function projects(db: Kysely<Tables>) {
  const deleted = db.selectFrom('project_deletion').select('project_id').where('ended_at', 'is', null);
  return db.selectFrom('project').selectAll().where('id', 'not in', deleted);
}

type UsableKeyFunctions = 'findUsable' | 'countDescendants';

function usableKeyRows({ read }: Pick<Database, 'read'>): Pick<ProjectRepository, UsableKeyFunctions> {
  return {
    countDescendants: async (keyId, now) => {
      const row = await read
        .selectFrom('api_key')
        .select((select) => select.fn.countAll<number>().as('keys'))
        .where('id', 'in', descendantsOf(keyId))
        .where('id', '<>', keyId)
        .where(isUsableAt(now))
        .executeTakeFirst();
      return Number(row?.keys ?? 0);
    },
    findUsable: async (keyIds, now) => {
      if (keyIds.length === 0) return [];
      const query = read.selectFrom('api_key').select('id').where('id', 'in', keyIds).where(isUsableAt(now));
      return (await query.execute()).map(({ id }) => id);
    },
  };
}

/** The key, the keys that it created, those that they created, and so on. */
function descendantsOf(keyId: string) {
  return sql<string>`(with recursive descendant(id) as (
    select id from api_key where id = ${keyId}
    union select api_key.id from api_key join descendant on api_key.maker_id = descendant.id
  ) select id from descendant)`;
}

type KeyChanges = Pick<ProjectRepository, 'addKey' | 'revokeKey' | 'replaceKey' | 'changedKeys'>;

/** Stores and reads every change that affects who may use a key. */
function keyChanges({ read, write, dialect }: Database): KeyChanges {
  return {
    addKey: (key, { now, most }) =>
      write.transaction().execute(async (transaction) => {
        const change = await nextChange(transaction);
        await assertNotDeleted(transaction, dialect, key.projectId);
        if ((await countOtherKeys(transaction, key, now)) >= most) return false;
        await insertKey(transaction, key, change);
        return true;
      }),
    revokeKey: (keyId, at, withDescendants) =>
      write.transaction().execute(async (transaction) => {
        const rows = await transaction
          .updateTable('api_key')
          .set({ revoked_at: at, change: await nextChange(transaction) })
          .where('id', withDescendants ? 'in' : '=', withDescendants ? descendantsOf(keyId) : keyId)
          .where('revoked_at', 'is', null)
          .returning('id')
          .execute();
        return rows.map(({ id }) => id);
      }),
    replaceKey: (oldKey, newKey, { now, oldEndsAt, most }) =>
      write.transaction().execute(async (transaction) => {
        const change = await nextChange(transaction);
        const others = await countOtherKeys(transaction, oldKey, now);
        if (others + (oldEndsAt > now ? 1 : 0) >= most) return 'full';
        const ended = await transaction
          .updateTable('api_key')
          .set({
            expires_at: sql<number>`case when expires_at < ${oldEndsAt} then expires_at else ${oldEndsAt} end`,
            change,
          })
          .where('id', '=', oldKey.id)
          .where('revoked_at', 'is', null)
          .executeTakeFirst();
        if (ended.numUpdatedRows === 0n) return 'ended';
        await insertKey(transaction, newKey, change);
        return 'replaced';
      }),
    changedKeys: async (after, now) => {
      const { number } = await read.selectFrom('key_change').select('number').executeTakeFirstOrThrow();
      if (after === number) return { number, isWhole: false, keys: [] };
      // A smaller number means that the database was restored to an earlier state. A deletion has removed rows of keys.
      const isWhole = after === null || after > number || (await haveKeysGone(read, after));
      const query = read.selectFrom('api_key').selectAll();
      const rows = await (isWhole ? query.where(isUsableAt(now)) : query.where('change', '>', after)).execute();
      return { number, isWhole, keys: rows.map(toKey) };
    },
  };
}

async function haveKeysGone(read: Kysely<Tables>, after: number): Promise<boolean> {
  const deletion = read.selectFrom('project_deletion').select('project_id').where('key_change', '>', after);
  return (await deletion.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Takes the number of a change that every process loads within a second: of keys, rate limits, settings of projects or installed
 * bundles. Locks the row until the commit. Changes are therefore committed in the order of their numbers, and two requests
 * cannot both take the last place for a key of a project.
 */
export async function nextChange(transaction: Transaction<Tables>): Promise<number> {
  const { number } = await transaction
    .updateTable('key_change')
    .set((row) => ({ number: row('number', '+', 1) }))
    .returning('number')
    .executeTakeFirstOrThrow();
  return number;
}

async function insertKey(transaction: Transaction<Tables>, key: StoredKey, change: number): Promise<void> {
  await transaction
    .insertInto('api_key')
    .values({ ...toKeyRow(key), change })
    .execute();
}

/** Counts the usable keys of the project other than this one. */
async function countOtherKeys(transaction: Transaction<Tables>, key: StoredKey, now: number): Promise<number> {
  const row = await transaction
    .selectFrom('api_key')
    .select((select) => select.fn.countAll<number>().as('keys'))
    .where('project_id', '=', key.projectId)
    .where('id', '<>', key.id)
    .where(isUsableAt(now))
    .executeTakeFirst();
  return Number(row?.keys ?? 0);
}

function toProject(row: { id: string; name: string; created_at: number }) {
  return { id: row.id, name: row.name, createdAt: row.created_at };
}

function toKey({ change: _, ...row }: Selectable<KeyTable>): StoredKey {
  const read = (list: string | null) => (list === null ? null : (JSON.parse(list) as string[])); // written by toKeyRow
  const scopes = JSON.parse(row.scopes) as Scope[]; // written by toKeyRow
  const replaced = read(row.replaced) ?? [];
  return { ...fromRow(row), scopes, collections: read(row.collections), tools: read(row.tools), replaced };
}

function isUsableAt(now: number) {
  return (where: ExpressionBuilder<Tables, 'api_key'>) =>
    where.and([
      where('revoked_at', 'is', null),
      where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]),
    ]);
}

function toKeyRow({ scopes, collections, tools, replaced, ...key }: StoredKey): Omit<KeyTable, 'change'> {
  const write = (list: readonly string[] | null) => list && JSON.stringify(list);
  const lists = { scopes: JSON.stringify(scopes), collections: write(collections), tools: write(tools) };
  return { ...toRow(key), ...lists, replaced: replaced.length === 0 ? null : write(replaced) };
}
