import type { Role } from '@quartermaster/contract';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Account, Claims, IdentitySignIn, SignInChanges } from '../../access/accounts/account-repository.ts';
import type { EndedAccess } from '../../access/accounts/people-repository.ts';
import type { AccountTable } from '../database/account-tables.ts';
import type { Database } from '../database/database.ts';
import { findDeleted } from '../database/deleted-projects.ts';
import { fromRow, toRow } from '../database/row-names.ts';
import type { Tables } from '../database/tables.ts';

export function toAccount({ is_administrator, administrator_source: _, ...row }: Selectable<AccountTable>): Account {
  return { ...fromRow(row), isAdministrator: is_administrator === 1 };
}

export function toAccountRow({ isAdministrator, ...account }: Account): Selectable<AccountTable> {
  return { ...toRow(account), is_administrator: Number(isAdministrator), administrator_source: null };
}

/** Returns the role of an enabled account in a project that is not being deleted. An administrator of the service has the highest one. */
export async function findRole(db: Kysely<Tables>, accountId: string, projectId: string): Promise<Role | undefined> {
  const { rows } = await sql<{ is_administrator: number; role: Role | null }>`select is_administrator, role from account
    join project on project.id = ${projectId}
    left join member on member.account_id = account.id and member.project_id = project.id
    where account.id = ${accountId} and disabled_at is null and not exists
      (select 1 from project_deletion where project_deletion.project_id = project.id and ended_at is null)`.execute(db);
  return rows[0]?.is_administrator === 1 ? 'administrator' : (rows[0]?.role ?? undefined);
}

/** Deletes an account, and every row that names it. Applications that it allowed lose their access. */
export async function eraseAccount(transaction: Transaction<Tables>, id: string): Promise<EndedAccess> {
  const grants = transaction.selectFrom('oauth_grant').select('id').where('account_id', '=', id);
  const applications = (await grants.where('revoked_at', 'is', null).execute()).length;
  await transaction.deleteFrom('oauth_record').where('grant_id', 'in', grants).execute();
  const sessions = await endSessions(transaction, id);
  for (const table of ['oauth_grant', 'member'] as const) {
    await transaction.deleteFrom(table).where('account_id', '=', id).execute();
  }
  await transaction.deleteFrom('account').where('id', '=', id).execute();
  return { sessions, applications };
}

/** @returns how many sessions ended */
export async function endSessions(transaction: Transaction<Tables>, accountId: string): Promise<number> {
  const deleted = await transaction.deleteFrom('session').where('account_id', '=', accountId).executeTakeFirst();
  return Number(deleted.numDeletedRows);
}

/**
 * Finds or creates the account of an identity and stores what its provider says. The row is locked until the commit, so that two first
 * sign-ins create one account.
 * @returns undefined for a disabled account, and for an unknown one that must exist
 */
export async function signInIdentity(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  { identity, claims, newId, now }: IdentitySignIn & { readonly now: number },
): Promise<{ readonly account: Account; readonly changes: SignInChanges } | undefined> {
  const { issuer, subject, name, email } = identity;
  let isCreated = false;
  if (newId !== null) {
    const inserted = await transaction
      .insertInto('account')
      .values({ id: newId, name, issuer, subject, is_administrator: 0, created_at: now, updated_at: now })
      .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
      .executeTakeFirst();
    isCreated = inserted.numInsertedOrUpdatedRows === 1n;
  }
  const row = await transaction
    .updateTable('account')
    .set({ name, email, last_sign_in_at: now, updated_at: now })
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('disabled_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { is_administrator: former, id } = row;
  if (claims.isAdministrator !== undefined) {
    const administrator = transaction.updateTable('account').set(claims.isAdministrator ? claimed : notClaimed);
    Object.assign(row, await administrator.where('id', '=', id).returningAll().executeTakeFirstOrThrow());
  }
  const account = toAccount(row);
  const { isAdministrator } = account;
  const isChanged = row.is_administrator !== former;
  const roles = await replaceClaimed(transaction, dialect, { accountId: id, roles: claims.roles, now });
  const endedIn = await endLostGrants(transaction, id, now);
  return { account, changes: { isCreated, ...(isChanged && { isAdministrator }), roles, endedIn } };
}

/** Both read the row before the change. An account that a person made an administrator stays one. */
const claimed = {
  is_administrator: 1,
  administrator_source: sql<'claim' | null>`case when is_administrator = 1 then administrator_source else 'claim' end`,
};
const notClaimed = {
  is_administrator: sql<number>`case when administrator_source = 'claim' then 0 else is_administrator end`,
  administrator_source: null,
};

/**
 * Replaces the roles that an earlier sign-in brought. Projects that do not exist, and roles that a person set, stay as they are.
 * @returns what changed
 */
async function replaceClaimed(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  { accountId, roles, now }: { readonly accountId: string; readonly roles: Claims['roles']; readonly now: number },
): Promise<SignInChanges['roles']> {
  if (roles === undefined) return new Map();
  const previous = transaction.deleteFrom('member').where('account_id', '=', accountId).where('source', '=', 'claim');
  const former = await previous.returning(['project_id', 'role']).execute();
  const changes = new Map<string, Role | null>(former.map(({ project_id }) => [project_id, null]));
  if (roles.size === 0) return changes;
  const deleted = await findDeleted(transaction, dialect, [...roles.keys()]);
  const projects = transaction
    .selectFrom('project')
    .select('id')
    .where('id', 'in', [...roles.keys()]);
  for (const { id } of await projects.execute()) {
    const role = roles.get(id);
    if (role === undefined || deleted.has(id)) continue;
    const inserted = await transaction
      .insertInto('member')
      .values({ project_id: id, account_id: accountId, role, source: 'claim', created_at: now })
      .onConflict((conflict) => conflict.columns(['project_id', 'account_id']).doNothing())
      .executeTakeFirst();
    if (former.some((row) => row.project_id === id && row.role === role)) changes.delete(id);
    else if (inserted.numInsertedOrUpdatedRows === 1n) changes.set(id, role);
  }
  return changes;
}

/**
 * Ends what an account has allowed applications in projects that it no longer sees.
 * @returns the project of each application
 */
export async function endLostGrants(
  transaction: Transaction<Tables>,
  accountId: string,
  now: number,
): Promise<string[]> {
  const { rows } = await sql<{
    project_id: string;
  }>`update oauth_grant set revoked_at = ${now} where account_id = ${accountId} and revoked_at is null
    and not exists (select 1 from account left join member
      on member.account_id = account.id and member.project_id = oauth_grant.project_id
      where account.id = oauth_grant.account_id and disabled_at is null and (is_administrator = 1 or role is not null))
    returning project_id`.execute(transaction);
  return rows.map(({ project_id }) => project_id);
}
