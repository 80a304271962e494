import { type Kysely, sql, type Transaction } from 'kysely';
import type { PeopleRepository } from '../../access/accounts/people-repository.ts';
import type { Database } from '../database/database.ts';
import { assertNotDeleted } from '../database/deleted-projects.ts';
import type { Tables } from '../database/tables.ts';
import { endLostGrants, endSessions, eraseAccount, findRole, toAccount } from './account-rows.ts';
import { projects } from './project-repository.ts';

/** Stores what people may do, in either database. */
export function createPeopleRepository(database: Database): PeopleRepository {
  return { ...accountFunctions(database), ...memberFunctions(database) };
}

function accountFunctions({
  read,
  write,
  dialect,
}: Database): Pick<PeopleRepository, 'listAccounts' | 'changeAccount' | 'eraseAccount'> {
  return {
    listAccounts: async () => (await read.selectFrom('account').selectAll().orderBy('id').execute()).map(toAccount),
    changeAccount: (id, { disabled, isAdministrator }, now) =>
      write.transaction().execute(async (transaction) => {
        const others = await lockAdministrators(transaction, dialect, id);
        const found = await accounts(transaction).where('id', '=', id).executeTakeFirst();
        if (found === undefined) return 'absent';
        const disabledAt = disabled === undefined ? found.disabled_at : disabled ? (found.disabled_at ?? now) : null;
        const changed = {
          disabled_at: disabledAt,
          is_administrator: Number(isAdministrator ?? found.is_administrator === 1),
          administrator_source: isAdministrator === undefined ? found.administrator_source : null,
        };
        if (isManaging(found) && !isManaging(changed) && others === 0) return 'last';
        await transaction
          .updateTable('account')
          .set({ ...changed, updated_at: now })
          .where('id', '=', id)
          .execute();
        const sessions = disabledAt === null ? 0 : await endSessions(transaction, id);
        const applications = (await endLostGrants(transaction, id, now)).length;
        return { account: toAccount({ ...found, ...changed, updated_at: now }), sessions, applications };
      }),
    eraseAccount: (id) =>
      write.transaction().execute(async (transaction) => {
        const others = await lockAdministrators(transaction, dialect, id);
        const found = await accounts(transaction).where('id', '=', id).executeTakeFirst();
        if (found === undefined) return 'absent';
        if (found.password_hash !== null) return 'password';
        if (isManaging(found) && others === 0) return 'last';
        return await eraseAccount(transaction, id);
      }),
  };
}

function memberFunctions({
  read,
  write,
  dialect,
}: Database): Pick<PeopleRepository, 'findRole' | 'listRoles' | 'listMembers' | 'setMember' | 'removeMember'> {
  return {
    findRole: (accountId, projectId) => findRole(read, accountId, projectId),
    listRoles: async (accountId) => {
      const rows = read.selectFrom('member').select(['project_id as projectId', 'role']);
      return await rows.where('account_id', '=', accountId).orderBy('project_id').execute();
    },
    listMembers: async (projectId) => {
      const project = await projects(read).where('id', '=', projectId).executeTakeFirst();
      if (project === undefined) return undefined;
      const members = read.selectFrom('member').innerJoin('account', 'account.id', 'member.account_id');
      const columns = members.select(['account.id', 'name', 'email', 'role', 'source']);
      return await columns.where('project_id', '=', projectId).orderBy('account.id').execute();
    },
    setMember: ({ id, role }, projectId, now) =>
      write.transaction().execute(async (transaction) => {
        // Locks the account, so that it is not deleted at the same time.
        const found = await transaction.updateTable('account').set({ updated_at: now }).where('id', '=', id).execute();
        if (found[0]?.numUpdatedRows !== 1n) return 'account';
        await assertNotDeleted(transaction, dialect, projectId);
        const project = await projects(transaction).where('id', '=', projectId).executeTakeFirst();
        if (project === undefined) return 'project';
        await transaction
          .insertInto('member')
          .values({ project_id: projectId, account_id: id, role, source: 'manual', created_at: now })
          .onConflict((conflict) =>
            conflict.columns(['project_id', 'account_id']).doUpdateSet({ role, source: 'manual' }),
          )
          .execute();
        return 'set';
      }),
    removeMember: (accountId, projectId, now) =>
      write.transaction().execute(async (transaction) => {
        const removed = await transaction
          .deleteFrom('member')
          .where('project_id', '=', projectId)
          .where('account_id', '=', accountId)
          .executeTakeFirst();
        const ended = await endLostGrants(transaction, accountId, now);
        return removed.numDeletedRows > 0n ? ended.length : undefined;
      }),
  };
}

function accounts(db: Kysely<Tables>) {
  return db.selectFrom('account').selectAll();
}

function isManaging({ is_administrator, disabled_at }: { is_administrator: number; disabled_at: number | null }) {
  return is_administrator === 1 && disabled_at === null;
}

/**
 * Locks the account and the administrators of the service until the commit, so that two of them cannot remove each other.
 * @returns the number of those who remain without the account
 */
async function lockAdministrators(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  id: string,
): Promise<number> {
  const lock = dialect === 'postgres' ? sql`for update` : sql``;
  const { rows } = await sql<{ id: string }>`select id from account
    where (is_administrator = 1 and disabled_at is null) or id = ${id} order by id ${lock}`.execute(transaction);
  return rows.filter((row) => row.id !== id).length;
}
