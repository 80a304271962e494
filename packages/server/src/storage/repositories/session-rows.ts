import type { ExpressionBuilder, Transaction } from 'kysely';
import type {
  AccountRepository,
  EndedSessions,
  PasswordAccount,
  SessionBound,
  SessionTimes,
  StoredSession,
} from '../../access/accounts/account-repository.ts';
import { standingIn } from '../../access/accounts/sessions.ts';
import type { Database } from '../database/database.ts';
import { fromRow, toRow } from '../database/row-names.ts';
import type { Tables } from '../database/tables.ts';
import { signInIdentity, toAccount } from './account-rows.ts';

type SessionFunctions =
  | 'addSession'
  | 'addIdentitySession'
  | 'findSession'
  | 'listSessions'
  | 'findUsableSessions'
  | 'touchSession'
  | 'removeSession'
  | 'removeSessionById'
  | 'removeSessions';

/** Stores sessions in either database. */
export function createSessionRows(
  database: Pick<Database, 'read' | 'write' | 'dialect'>,
): Pick<AccountRepository, SessionFunctions> {
  const { write, dialect } = database;
  return {
    ...sessionReads(database),
    addSession: (session, account, bound) =>
      write.transaction().execute(async (transaction) => {
        if (!(await lockAccount(transaction, account, bound.now))) return undefined;
        return await insertSession(transaction, session, bound);
      }),
    addIdentitySession: (session, signIn, bound) =>
      write.transaction().execute(async (transaction) => {
        const signedIn = await signInIdentity(transaction, dialect, { ...signIn, now: bound.now });
        if (signedIn === undefined) return undefined;
        const accountId = signedIn.account.id;
        return { ...signedIn, ended: await insertSession(transaction, { ...session, accountId }, bound) };
      }),
    touchSession: async (hash, at) => {
      await write
        .updateTable('session')
        .set({ last_used_at: at })
        .where('hash', '=', hash)
        .where('last_used_at', '<', at)
        .execute();
    },
    removeSession: async (hash) => {
      await write.deleteFrom('session').where('hash', '=', hash).execute();
    },
    removeSessionById: async (accountId, id) => {
      const removed = await write
        .deleteFrom('session')
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .executeTakeFirst();
      return removed.numDeletedRows > 0n;
    },
    removeSessions: async (accountId) => {
      await write.deleteFrom('session').where('account_id', '=', accountId).execute();
    },
  };
}

function sessionReads({
  read,
}: Pick<Database, 'read'>): Pick<AccountRepository, 'findSession' | 'listSessions' | 'findUsableSessions'> {
  return {
    findSession: async (hash) => {
      const row = await read.selectFrom('session').selectAll().where('hash', '=', hash).executeTakeFirst();
      if (row === undefined) return undefined;
      const owner = await read
        .selectFrom('account')
        .selectAll()
        .where('id', '=', row.account_id)
        .where('disabled_at', 'is', null)
        .executeTakeFirst();
      return owner === undefined ? undefined : { session: fromRow(row), account: toAccount(owner) };
    },
    listSessions: async (accountId, times) => {
      const rows = await read
        .selectFrom('session')
        .selectAll()
        .where('account_id', '=', accountId)
        .where(isUsable(times))
        .orderBy('id')
        .execute();
      return rows.map(fromRow);
    },
    findUsableSessions: async (hashes, times) => {
      if (hashes.length === 0) return [];
      const usable = read.selectFrom('session').select('hash').where('hash', 'in', hashes).where(isUsable(times));
      const rows = await read
        .selectFrom('session')
        .innerJoin('account', 'account.id', 'session.account_id')
        .leftJoin('member', 'member.account_id', 'account.id')
        .select(['hash', 'is_administrator', 'project_id', 'role'])
        .where('hash', 'in', usable)
        .where('disabled_at', 'is', null)
        .execute();
      return rows.map(({ hash, is_administrator, project_id: projectId, role }) =>
        standingIn(hash, { isAdministrator: is_administrator === 1, projectId, role }),
      );
    },
  };
}

/**
 * Locks the row until the commit, so that sessions of an account begin one after another. Each new password changes the
 * secret. A sign-in that compared the old password therefore fails.
 */
async function lockAccount(
  transaction: Transaction<Tables>,
  { id, browserSecret }: PasswordAccount,
  now: number,
): Promise<boolean> {
  const locked = await transaction
    .updateTable('account')
    .set({ last_sign_in_at: now })
    .where('id', '=', id)
    .where('browser_secret', '=', browserSecret)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return locked.numUpdatedRows === 1n;
}

/** The account is locked. @returns the sessions that ended */
async function insertSession(
  transaction: Transaction<Tables>,
  session: StoredSession,
  { most, replaces = '', ...times }: SessionBound,
): Promise<EndedSessions> {
  const replaced = await transaction.deleteFrom('session').where('hash', '=', replaces).returning('id').execute();
  await transaction.deleteFrom('session').where('account_id', '=', session.accountId).where(isOver(times)).execute();
  const leastUsed = await removeLeastUsed(transaction, session.accountId, most - 1);
  await transaction.insertInto('session').values(toRow(session)).execute();
  return { replaced: replaced.map(({ id }) => id), leastUsed };
}

/** SQLite has no offset without a limit. */
const noLimit = 2 ** 31 - 1;

/** @returns ids of the removed sessions */
async function removeLeastUsed(transaction: Transaction<Tables>, accountId: string, most: number): Promise<string[]> {
  const tooMany = transaction
    .selectFrom('session')
    .select('hash')
    .where('account_id', '=', accountId)
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .limit(noLimit)
    .offset(most);
  const removed = await transaction.deleteFrom('session').where('hash', 'in', tooMany).returning('id').execute();
  return removed.map(({ id }) => id);
}

/** Matches sessions that can no longer be used. */
export function isOver({ now, idleSince }: SessionTimes) {
  return (where: ExpressionBuilder<Tables, 'session'>) =>
    where.or([where('expires_at', '<=', now), where('last_used_at', '<=', idleSince)]);
}

function isUsable(times: SessionTimes) {
  return (where: ExpressionBuilder<Tables, 'session'>) => where.not(isOver(times)(where));
}
