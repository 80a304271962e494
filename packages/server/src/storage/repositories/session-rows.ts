import type { ExpressionBuilder, Transaction } from 'kysely';
import type {
  Administrator,
  AdministratorRepository,
  SessionTimes,
} from '../../access/administrator/administrator-repository.ts';
import type { Database } from '../database/database.ts';
import { fromRow, toRow } from '../database/row-names.ts';
import type { Tables } from '../database/tables.ts';

type SessionFunctions =
  | 'addSession'
  | 'findSession'
  | 'listSessions'
  | 'findUsableSessions'
  | 'touchSession'
  | 'removeSession'
  | 'removeSessionById'
  | 'removeSessions';

/** Stores sessions in either database. */
export function createSessionRows(
  database: Pick<Database, 'read' | 'write'>,
): Pick<AdministratorRepository, SessionFunctions> {
  const { write } = database;
  return {
    ...sessionReads(database),
    addSession: (session, administrator, { most, replaces, ...times }) =>
      write.transaction().execute(async (transaction) => {
        if (!(await lockAdministrator(transaction, administrator))) return undefined;
        const replaced = await transaction
          .deleteFrom('session')
          .where('hash', '=', replaces ?? '')
          .returning('id')
          .execute();
        await transaction
          .deleteFrom('session')
          .where('administrator_id', '=', administrator.id)
          .where(isOver(times))
          .execute();
        const leastUsed = await removeLeastUsed(transaction, administrator.id, most - 1);
        await transaction.insertInto('session').values(toRow(session)).execute();
        return { replaced: replaced.map(({ id }) => id), leastUsed };
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
    removeSessionById: async (administratorId, id) => {
      const removed = await write
        .deleteFrom('session')
        .where('administrator_id', '=', administratorId)
        .where('id', '=', id)
        .executeTakeFirst();
      return removed.numDeletedRows > 0n;
    },
    removeSessions: async (administratorId) => {
      await write.deleteFrom('session').where('administrator_id', '=', administratorId).execute();
    },
  };
}

function sessionReads({
  read,
}: Pick<Database, 'read'>): Pick<AdministratorRepository, 'findSession' | 'listSessions' | 'findUsableSessions'> {
  return {
    findSession: async (hash) => {
      const row = await read.selectFrom('session').selectAll().where('hash', '=', hash).executeTakeFirst();
      if (row === undefined) return undefined;
      const owner = await read
        .selectFrom('administrator')
        .selectAll()
        .where('id', '=', row.administrator_id)
        .executeTakeFirst();
      return owner === undefined ? undefined : { session: fromRow(row), administrator: fromRow(owner) };
    },
    listSessions: async (administratorId, times) => {
      const rows = await read
        .selectFrom('session')
        .selectAll()
        .where('administrator_id', '=', administratorId)
        .where(isUsable(times))
        .orderBy('id')
        .execute();
      return rows.map(fromRow);
    },
    findUsableSessions: async (hashes, times) => {
      if (hashes.length === 0) return [];
      const query = read.selectFrom('session').select('hash').where('hash', 'in', hashes).where(isUsable(times));
      return (await query.execute()).map(({ hash }) => hash);
    },
  };
}

/**
 * Locks the row until the commit, so that sessions of an administrator begin one after another. Each new password
 * changes the secret. A sign-in that compared the old password therefore fails.
 */
async function lockAdministrator(
  transaction: Transaction<Tables>,
  { id, browserSecret }: Administrator,
): Promise<boolean> {
  const locked = await transaction
    .updateTable('administrator')
    .set({ browser_secret: browserSecret })
    .where('id', '=', id)
    .where('browser_secret', '=', browserSecret)
    .executeTakeFirst();
  return locked.numUpdatedRows === 1n;
}

/** SQLite has no offset without a limit. */
const noLimit = 2 ** 31 - 1;

/** @returns ids of the removed sessions */
async function removeLeastUsed(
  transaction: Transaction<Tables>,
  administratorId: string,
  most: number,
): Promise<string[]> {
  const tooMany = transaction
    .selectFrom('session')
    .select('hash')
    .where('administrator_id', '=', administratorId)
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
