import { createNewId } from '../../../platform/identifier.ts';
import type { Database } from '../../../storage/database/database.ts';
import { toAccountRow } from '../../../storage/repositories/account-rows.ts';
import type { Account, PasswordAccount } from '../account-repository.ts';

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
export async function storeAccount(database: Database, fields: Partial<Account> = {}): Promise<PasswordAccount> {
  const account = { ...newTestAccount(), ...fields } as PasswordAccount; // tests that store none do not sign in with it
  await database.write.insertInto('account').values(toAccountRow(account)).execute();
  return account;
}
