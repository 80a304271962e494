import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { noAudit } from '../../platform/audit/testing/no-audit.ts';
import { systemClock } from '../../platform/clock.ts';
import { createNewId } from '../../platform/identifier.ts';
import { Problem } from '../../platform/problem.ts';
import { type DatabaseKind, temporaryDatabases } from '../../storage/database/testing/temporary-databases.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { createPeopleRepository } from '../../storage/repositories/people-repository.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import type { Claims } from './account-repository.ts';
import { createAccounts } from './accounts.ts';
import { createSessions } from './sessions.ts';
import { storeAccount } from './testing/stored-account.ts';

const identity = { issuer: 'https://id.example', subject: '7', name: 'Grace', email: 'grace@example.com' };
const origin = { address: '10.0.0.1', deviceCookie: undefined };

async function open(t: TestContext, kind: DatabaseKind) {
  const { database, close } = await temporaryDatabases[kind]();
  t.after(close);
  const [clock, newId] = [systemClock, createNewId()];
  const repository = createAccountRepository(database);
  const sessions = createSessions({ repository, clock, newId });
  const accounts = createAccounts({ repository, sessions, clock, newId, audit: noAudit, admission: createAdmission() });
  const projects = createProjectRepository(database);
  for (const id of ['tea', 'mint']) await projects.addProject({ id, name: id, createdAt: 1 }, { most: 10 });
  const signIn = (claims: Claims = {}, more: Partial<typeof identity> = {}, mayCreate = true) =>
    accounts.signInWith({ ...identity, ...more }, claims, mayCreate, origin);
  const members = async () => {
    const rows = database.read.selectFrom('member').select(['project_id', 'role', 'source']).orderBy('project_id');
    return (await rows.execute()).map((row) => Object.values(row).join(' '));
  };
  return { accounts, database, members, sessions, signIn };
}

const isRefused = (error: unknown) => error instanceof Problem && error.code === 'PERMISSION_DENIED';

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`the sign-in of an identity in ${kind}`, () => {
    test('creates one account for several first sign-ins at once, and keeps name and e-mail address current', async (t) => {
      const { database, sessions, signIn } = await open(t, kind);
      const begun = await Promise.all(Array.from({ length: 8 }, () => signIn()));
      const [id = '', ...others] = new Set(begun.map(({ account }) => account.id));
      assert.deepEqual(others, []);
      assert.match(id, /^acct/);
      assert.equal((await sessions.list(id)).length, 8);
      const { account } = await signIn({}, { name: 'Grace\u0000H', email: 'g@example.org' });
      assert.deepEqual(
        [account.id, account.name, account.email, account.isAdministrator],
        [id, 'Grace H', 'g@example.org', false],
      );
      for (const [sent, kept] of [
        ['Grace\u202eH', 'Grace\ufffdH'],
        ['\u200b', '\ufffd'],
        [`${'a'.repeat(63)}😀`, 'a'.repeat(63)],
        [`${'a'.repeat(60)}👩‍👩‍👧`, 'a'.repeat(60)],
      ] as const) {
        assert.equal((await signIn({}, { name: sent })).account.name, kept);
      }
      assert.equal((await database.read.selectFrom('account').select('id').execute()).length, 1);
    });

    test('finds the account by issuer and subject, and never by its e-mail address', async (t) => {
      const { database, signIn } = await open(t, kind);
      const ada = await storeAccount(database, { email: identity.email });
      const ids = [await signIn(), await signIn({}, { subject: '8' }), await signIn({}, { issuer: 'https://other' })];
      assert.equal(new Set([ada.id, ...ids.map(({ account }) => account.id)]).size, 4);
    });

    test('refuses an unknown identity that must exist, and a disabled account, without a change', async (t) => {
      const { database, sessions, signIn } = await open(t, kind);
      await assert.rejects(signIn({}, {}, false), isRefused);
      assert.deepEqual(await database.read.selectFrom('account').selectAll().execute(), []);
      const begun = await signIn();
      await signIn({}, {}, false);
      await database.write.updateTable('account').set({ disabled_at: 1 }).execute();
      await assert.rejects(signIn({ isAdministrator: true }, { name: 'Eve' }), isRefused);
      const { name, is_administrator } = await database.read
        .selectFrom('account')
        .selectAll()
        .executeTakeFirstOrThrow();
      assert.deepEqual([name, is_administrator], ['Grace', 0]);
      const sent = { cookie: begun.token.reveal(), console: begun.consoleToken.reveal() };
      await assert.rejects(sessions.use(sent), 'its session ends with it');
    });

    test('replaces the roles that an earlier claim set, and keeps those that a person set', async (t) => {
      const { database, members, signIn } = await open(t, kind);
      const roles = (entries: Array<[string, 'member' | 'viewer']>) => ({ roles: new Map(entries) });
      const { account } = await signIn(
        roles([
          ['tea', 'member'],
          ['absent', 'member'],
        ]),
      );
      assert.deepEqual(await members(), ['tea member claim']);
      const row = {
        project_id: 'mint',
        account_id: account.id,
        role: 'viewer',
        source: 'manual',
        created_at: 1,
      } as const;
      await database.write.insertInto('member').values(row).execute();
      await signIn({
        ...roles([
          ['tea', 'viewer'],
          ['mint', 'member'],
        ]),
        isAdministrator: true,
      });
      assert.deepEqual(await members(), ['mint viewer manual', 'tea viewer claim']);
      assert.equal((await signIn()).account.isAdministrator, true, 'without a claim nothing changes');
      await signIn({ ...roles([]), isAdministrator: false });
      assert.deepEqual(await members(), ['mint viewer manual']);
    });

    test('ends the administration of the service that a claim gave, and keeps the one that a person gave', async (t) => {
      const { database, signIn } = await open(t, kind);
      const people = createPeopleRepository(database);
      const by = async (isAdministrator: boolean) => (await signIn({ isAdministrator })).account.isAdministrator;
      assert.deepEqual([await by(true), await by(true), await by(false)], [true, true, false]);
      const { account } = await signIn();
      await storeAccount(database);
      await people.changeAccount(account.id, { isAdministrator: true }, 1);
      assert.deepEqual([await by(false), await by(true), await by(false)], [true, true, true]);
      await people.changeAccount(account.id, { isAdministrator: false }, 1);
      assert.equal(await by(true), true);
      await people.changeAccount(account.id, { disabled: false }, 1);
      assert.equal(await by(false), false, 'another change leaves the claim responsible');
      await by(true);
      await people.changeAccount(account.id, { isAdministrator: true }, 1);
      assert.equal(await by(false), true, 'a person has confirmed it');
    });
  });
}
