import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { noAudit } from '../../platform/audit/testing/no-audit.ts';
import { systemClock } from '../../platform/clock.ts';
import { createNewId } from '../../platform/identifier.ts';
import { Problem } from '../../platform/problem.ts';
import { type DatabaseKind, temporaryDatabases } from '../../storage/database/testing/temporary-databases.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import type { AccountRepository } from './account-repository.ts';
import { createAccounts } from './accounts.ts';
import { hashPassword, isOutdated } from './password.ts';
import { createSessions } from './sessions.ts';
import { storeAccount } from './testing/stored-account.ts';

const signIn = { name: 'Ada', password: 'seven otters paint slowly' };
const origin = { address: '10.0.0.1', deviceCookie: undefined };

function outdatedHash(password: string): string {
  const nonce = Buffer.alloc(16, 1);
  const tag = argon2Sync('argon2id', {
    message: password,
    nonce,
    parallelism: 1,
    tagLength: 32,
    memory: 8192,
    passes: 1,
  });
  const plain = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=8192,t=1,p=1$${plain(nonce)}$${plain(tag)}`;
}

/**
 * Opens an administrator with an outdated hash. `between` runs after a sign-in has computed the new hash and before it
 * stores it.
 */
async function open(t: TestContext, kind: DatabaseKind, between: (repository: AccountRepository) => Promise<unknown>) {
  const { database, close } = await temporaryDatabases[kind]();
  t.after(close);
  const repository = createAccountRepository(database);
  const newId = createNewId(systemClock);
  const hash = outdatedHash(signIn.password);
  await storeAccount(database, { id: 'ada', name: signIn.name, passwordHash: hash, browserSecret: 'ab' });
  const accounts = createAccounts({
    admission: createAdmission(),
    repository: {
      ...repository,
      renewPasswordHash: async (...args) => {
        await between(repository);
        return repository.renewPasswordHash(...args);
      },
    },
    sessions: createSessions({ repository, clock: systemClock, newId }),
    clock: systemClock,
    newId,
    audit: noAudit,
  });
  const stored = async () => (await repository.findPasswordAccount())?.passwordHash ?? '';
  return { accounts, stored };
}

async function storeHash(repository: AccountRepository, password: string): Promise<void> {
  const account = await repository.findPasswordAccount();
  assert.ok(account !== undefined);
  await repository.setPassword({ ...account, passwordHash: await hashPassword(password) });
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`a sign-in renews an outdated hash once: ${kind}`, async (t) => {
    let renewals = 0;
    const { accounts, stored } = await open(t, kind, async () => {
      renewals += 1;
    });
    assert.ok(isOutdated(await stored()));
    await accounts.signIn(signIn, origin);
    const renewed = await stored();
    assert.ok(!isOutdated(renewed));
    await accounts.signIn(signIn, origin);
    assert.equal(await stored(), renewed);
    assert.equal(renewals, 1);
  });

  test(`a sign-in that renews an outdated hash does not undo a password change: ${kind}`, async (t) => {
    const changed = 'eight herons sing loudly';
    const { accounts, stored } = await open(t, kind, (repository) => storeHash(repository, changed));
    const isRefused = (error: unknown) => error instanceof Problem && error.code === 'SESSION_VALIDATION_FAILED';
    await assert.rejects(accounts.signIn(signIn, origin), isRefused);
    const storedHash = await stored();
    await accounts.signIn({ ...signIn, password: changed }, origin);
    assert.equal(await stored(), storedHash);
  });

  test(`a sign-in succeeds when another one renewed the same hash: ${kind}`, async (t) => {
    const { accounts } = await open(t, kind, (repository) => storeHash(repository, signIn.password));
    await accounts.signIn(signIn, origin);
  });
}
