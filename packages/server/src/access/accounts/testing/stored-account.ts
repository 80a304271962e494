import { createNewId } from '../../../platform/identifier.ts';
import type { Database } from '../../../storage/database/database.ts';
import { toAccountRow } from '../../../storage/repositories/account-rows.ts';
import type { PasswordAccount } from '../account-repository.ts';

const newId = createNewId();

/** Returns an administrator with a password. */
export function newTestAccount(fields: Partial<PasswordAccount> = {}): PasswordAccount {
  return {
    id: newId('account'),
    name: 'Ada',
    email: null,
    passwordHash: '',
    browserSecret: 's',
    isAdministrator: true,
    issuer: null,
    subject: null,
    disabledAt: null,
    createdAt: 0,
    updatedAt: 0,
    lastSignInAt: null,
    ...fields,
  };
}

/** Stores an account without a setup link. */
export async function storeAccount(database: Database, fields?: Partial<PasswordAccount>): Promise<PasswordAccount> {
  const account = newTestAccount(fields);
  await database.write.insertInto('account').values(toAccountRow(account)).execute();
  return account;
}
