import type { Transaction } from 'kysely';
import type { AccountRepository, AttemptCounter, PasswordAccount } from '../../access/accounts/account-repository.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { eraseAccount, toAccount, toAccountRow } from './account-rows.ts';
import { createSessionRows, isOver } from './session-rows.ts';

/** Stores accounts, sessions and counters in either database. */
export function createAccountRepository(database: Database): AccountRepository {
  const { read, write } = database;
  return {
    findPasswordAccount: async () => {
      const query = read.selectFrom('account').selectAll().where('password_hash', 'is not', null);
      const row = await query.executeTakeFirst();
      return row === undefined ? undefined : (toAccount(row) as PasswordAccount); // as the condition says
    },
    findAccount: async (id) => {
      const row = await read.selectFrom('account').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? undefined : toAccount(row);
    },
    keepSetUpToken: ({ hash, expiresAt }, keepsValidAt = Number.MAX_SAFE_INTEGER) =>
      write.transaction().execute(async (transaction) => {
        // The token is written before the check for an account, so that a concurrent addPasswordAccount waits or is
        // visible.
        const stored = await transaction
          .insertInto('set_up_token')
          .values({ id: 1, hash, expires_at: expiresAt })
          .onConflict((conflict) =>
            conflict
              .column('id')
              .doUpdateSet({ hash, expires_at: expiresAt })
              .where('set_up_token.expires_at', '<=', keepsValidAt),
          )
          .returning('id')
          .executeTakeFirst();
        if (!(await hasPasswordAccount(transaction))) return stored === undefined ? 'valid' : 'stored';
        await transaction.deleteFrom('set_up_token').execute();
        return 'account';
      }),
    findSetUpToken: async () => {
      const row = await read.selectFrom('set_up_token').selectAll().executeTakeFirst();
      return row === undefined ? undefined : { hash: row.hash, expiresAt: row.expires_at };
    },
    addPasswordAccount: (account, tokenHash, now) =>
      write.transaction().execute(async (transaction) => {
        // Only one of several concurrent deletes finds the row, and only that request adds the account.
        const used = await transaction
          .deleteFrom('set_up_token')
          .where('hash', '=', tokenHash)
          .where('expires_at', '>', now)
          .executeTakeFirst();
        if (used.numDeletedRows !== 1n || (await hasPasswordAccount(transaction))) return false;
        await transaction.insertInto('account').values(toAccountRow(account)).execute();
        return true;
      }),
    removePasswordAccount: () =>
      write.transaction().execute(async (transaction) => {
        const rows = transaction.selectFrom('account').select('id').where('password_hash', 'is not', null);
        const found = await rows.executeTakeFirst();
        if (found !== undefined) await eraseAccount(transaction, found.id);
        for (const table of ['set_up_token', 'attempt_counter'] as const) await transaction.deleteFrom(table).execute();
        return found?.id;
      }),
    renewPasswordHash: async ({ id, passwordHash: former }, passwordHash) => {
      const renewed = await write
        .updateTable('account')
        .set({ password_hash: passwordHash })
        .where('id', '=', id)
        .where('password_hash', '=', former)
        .executeTakeFirst();
      return renewed.numUpdatedRows === 1n;
    },
    setPassword: ({ id, passwordHash, browserSecret, updatedAt }) =>
      write.transaction().execute(async (transaction) => {
        await transaction
          .updateTable('account')
          .set({ password_hash: passwordHash, browser_secret: browserSecret, updated_at: updatedAt })
          .where('id', '=', id)
          .execute();
        await transaction.deleteFrom('session').where('account_id', '=', id).execute();
      }),
    ...createSessionRows(database),
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

async function hasPasswordAccount(transaction: Transaction<Tables>): Promise<boolean> {
  const query = transaction.selectFrom('account').select('id').where('password_hash', 'is not', null);
  return (await query.executeTakeFirst()) !== undefined;
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
