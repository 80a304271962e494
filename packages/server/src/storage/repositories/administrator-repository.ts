import type { Transaction } from 'kysely';
import {
  type AdministratorRepository,
  type AttemptCounter,
  maxAdministrators,
} from '../../access/administrator/administrator-repository.ts';
import type { Database } from '../database/database.ts';
import { areAtLeast } from '../database/row-limit.ts';
import { fromRow, toRow } from '../database/row-names.ts';
import type { Tables } from '../database/tables.ts';
import { createSessionRows, isOver } from './session-rows.ts';

/** Stores administrators, sessions and counters in either database. */
export function createAdministratorRepository({ read, write }: Database): AdministratorRepository {
  return {
    findAdministrator: async () => {
      const row = await read.selectFrom('administrator').selectAll().limit(1).executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },
    keepSetUpToken: ({ hash, expiresAt }) =>
      write.transaction().execute(async (transaction) => {
        // The token is written before the check for an administrator, so that a concurrent addAdministrator waits or is
        // visible.
        await transaction
          .insertInto('set_up_token')
          .values({ id: 1, hash, expires_at: expiresAt })
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ hash, expires_at: expiresAt }))
          .execute();
        if (!(await hasAdministrator(transaction))) return true;
        await transaction.deleteFrom('set_up_token').execute();
        return false;
      }),
    findSetUpToken: async () => {
      const row = await read.selectFrom('set_up_token').selectAll().executeTakeFirst();
      return row === undefined ? undefined : { hash: row.hash, expiresAt: row.expires_at };
    },
    addAdministrator: (administrator, tokenHash, now) =>
      write.transaction().execute(async (transaction) => {
        // Only one of several concurrent deletes finds the row, and only that request adds the administrator.
        const used = await transaction
          .deleteFrom('set_up_token')
          .where('hash', '=', tokenHash)
          .where('expires_at', '>', now)
          .executeTakeFirst();
        if (used.numDeletedRows !== 1n || (await hasAdministrator(transaction))) return false;
        await transaction.insertInto('administrator').values(toRow(administrator)).execute();
        return true;
      }),
    removeAdministrator: () =>
      write.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('oauth_grant').execute();
        for (const table of ['session', 'administrator', 'set_up_token', 'attempt_counter'] as const) {
          await transaction.deleteFrom(table).execute();
        }
      }),
    renewPasswordHash: async ({ id, passwordHash: former }, passwordHash) => {
      const renewed = await write
        .updateTable('administrator')
        .set({ password_hash: passwordHash })
        .where('id', '=', id)
        .where('password_hash', '=', former)
        .executeTakeFirst();
      return renewed.numUpdatedRows === 1n;
    },
    setPassword: ({ id, passwordHash, browserSecret, updatedAt }) =>
      write.transaction().execute(async (transaction) => {
        await transaction
          .updateTable('administrator')
          .set({ password_hash: passwordHash, browser_secret: browserSecret, updated_at: updatedAt })
          .where('id', '=', id)
          .execute();
        await transaction.deleteFrom('session').where('administrator_id', '=', id).execute();
      }),
    ...createSessionRows({ read, write }),
    sweep: async (times, countersBefore) => {
      await write.deleteFrom('session').where(isOver(times)).execute();
      await write.deleteFrom('attempt_counter').where('window_start', '<', countersBefore).execute();
    },
    changeCounters: (buckets, change) =>
      write.transaction().execute(async (transaction) => {
        const counters = [];
        for (const bucket of buckets) counters.push(await lockCounter(transaction, bucket));
        const changed = change(counters) ?? [];
        for (const [i, counter] of changed.entries()) await writeCounter(transaction, buckets[i] ?? '', counter);
      }),
  };
}

async function hasAdministrator(transaction: Transaction<Tables>): Promise<boolean> {
  return areAtLeast(transaction.selectFrom('administrator').select('id').orderBy('id'), maxAdministrators);
}

/** The update that changes nothing locks the row in PostgreSQL. SQLite has a single writer. */
async function lockCounter(transaction: Transaction<Tables>, bucket: string): Promise<AttemptCounter | undefined> {
  await transaction
    .insertInto('attempt_counter')
    .values({ bucket, window_start: 0, failures: 0, retry_at: 0 })
    .onConflict((conflict) => conflict.column('bucket').doUpdateSet((row) => ({ bucket: row.ref('excluded.bucket') })))
    .execute();
  const row = await transaction
    .selectFrom('attempt_counter')
    .selectAll()
    .where('bucket', '=', bucket)
    .executeTakeFirstOrThrow();
  return { windowStart: row.window_start, failures: row.failures, retryAt: row.retry_at };
}

async function writeCounter(transaction: Transaction<Tables>, bucket: string, counter: AttemptCounter): Promise<void> {
  await transaction
    .updateTable('attempt_counter')
    .set({ window_start: counter.windowStart, failures: counter.failures, retry_at: counter.retryAt })
    .where('bucket', '=', bucket)
    .execute();
}
