import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { createAdmission } from '../../platform/admission/admission.ts';
import { noAudit } from '../../platform/audit/testing/no-audit.ts';
import type { Clock } from '../../platform/clock.ts';
import { createNewId } from '../../platform/identifier.ts';
import { Problem } from '../../platform/problem.ts';
import { Secret } from '../../platform/secret.ts';
import { type DatabaseKind, temporaryDatabases } from '../../storage/database/testing/temporary-databases.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { hasPassword } from './account-repository.ts';
import { createAccounts } from './accounts.ts';
import { createConfiguredAdministrator } from './configured-administrator.ts';
import { createDeviceCookie } from './device-cookie.ts';
import { absoluteMs, createSessions, hashToken, idleMs, type NewSession, type SentTokens } from './sessions.ts';
import { createSetUpLink } from './set-up-link.ts';
import { newTestAccount } from './testing/stored-account.ts';

const minute = 60_000;
const password = 'seven otters paint slowly';
const wrong = 'eight otters paint slowly';

const visitor = { address: '10.0.0.1', deviceCookie: undefined };

async function openOn(t: TestContext, kind: DatabaseKind) {
  const { database, folder, close } = await temporaryDatabases[kind]();
  t.after(close);
  const clock: Clock & { time: number } = { time: Date.now(), now: () => clock.time };
  const repository = createAccountRepository(database);
  const newId = createNewId(clock);
  const sessions = createSessions({ repository, clock, newId });
  const openAccounts = () =>
    createAccounts({ admission: createAdmission(), repository, sessions, clock, newId, audit: noAudit });
  const newToken = async () => {
    const link = await createSetUpLink({ repository, clock, dataFolder: folder, consoleUrl: 'http://127.0.0.1:1' });
    return link?.link.reveal().split('#')[1] ?? '';
  };
  return { folder, clock, repository, sessions, openAccounts, newToken };
}

/** Opens the module with an administrator. */
async function openSetUp(t: TestContext, kind: DatabaseKind) {
  const opened = await openOn(t, kind);
  const accounts = opened.openAccounts();
  const begun = await accounts.setUp({ token: await opened.newToken(), name: 'Ada', password }, visitor);
  const signIn = (attempt: { password?: string; name?: string; address?: string; deviceCookie?: string } = {}) =>
    accounts.signIn(
      { name: attempt.name ?? 'Ada', password: attempt.password ?? password },
      { address: attempt.address ?? '10.0.0.1', deviceCookie: attempt.deviceCookie },
    );
  return { ...opened, accounts, begun, signIn };
}

const isProblem = (code: string) => (error: unknown) => error instanceof Problem && error.code === code;
const isRefused = isProblem('SESSION_VALIDATION_FAILED');
const isTooMany = isProblem('TOO_MANY_REQUESTS');

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`the account in ${kind}`, () => {
    setUpTests(kind);
    attemptTests(kind);
    sessionTests(kind);
  });
}

function setUpTests(kind: DatabaseKind): void {
  test('is created once with the link, which is in a file that others cannot read', async (t) => {
    const { folder, openAccounts, newToken } = await openOn(t, kind);
    const token = await newToken();
    const file = join(folder, 'setup-link');
    assert.equal(await readFile(file, 'utf8'), `http://127.0.0.1:1/setup#${token}\n`);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(Buffer.from(token, 'base64url').length, 32);

    const accounts = openAccounts();
    for (const name of [' ', 'Ada\0', 'Ada\u009b31m', '\ud83d']) {
      await assert.rejects(accounts.setUp({ token, name, password }, visitor), isProblem('REQUEST_VALIDATION_ERROR'));
    }
    const { account } = await accounts.setUp({ token, name: 'Ada', password }, visitor);
    assert.equal(account.name, 'Ada');
    await assert.rejects(accounts.setUp({ token, name: 'Eve', password }, visitor), isProblem('OBJECT_NOT_FOUND'));
    await assert.rejects(accounts.getSetUp(), isProblem('OBJECT_NOT_FOUND'));
    assert.equal(await newToken(), '', 'no link is made when there is an administrator');
    await assert.rejects(stat(file));
  });

  test('is created from the settings once, and keeps a changed password', async (t) => {
    const { clock, folder, repository, openAccounts, newToken } = await openOn(t, kind);
    const deps = { repository, clock, newId: createNewId(clock), audit: noAudit };
    const configured = { name: 'Ada', password: new Secret(password) };
    await newToken();
    await createConfiguredAdministrator(deps, configured);
    const accounts = openAccounts();
    const begun = await accounts.signIn({ name: 'Ada', password }, visitor);
    assert.equal(await newToken(), '', 'no link is made when there is an administrator');
    await assert.rejects(stat(join(folder, 'setup-link')));
    const found = { account: begun.account, session: begun.session };
    const change = { current_password: password, new_password: wrong };
    await accounts.changePassword(found, change, visitor);
    await createConfiguredAdministrator(deps, configured);
    await assert.rejects(accounts.signIn({ name: 'Ada', password }, visitor), isRefused);
    await accounts.signIn({ name: 'Ada', password: wrong }, visitor);
  });

  test('is not created from a weak password in the settings; the error names the setting, not the password', async (t) => {
    const { clock, repository } = await openOn(t, kind);
    const deps = { repository, clock, newId: createNewId(clock), audit: noAudit };
    const weak = { name: 'Ada', password: new Secret('password1234567') };
    await assert.rejects(createConfiguredAdministrator(deps, weak), (error: Error) => {
      assert.match(error.message, /^QUARTERMASTER_ADMINISTRATOR_PASSWORD was refused: password must be hard to guess/);
      assert.ok(!error.message.includes(weak.password.reveal()));
      return true;
    });
    assert.equal(await repository.findPasswordAccount(), undefined);
  });

  test('is the only one: the limit administrators_of_installation accepts one and refuses one more', async (t) => {
    const { openAccounts, newToken, repository } = await openOn(t, kind);
    const token = await newToken();
    assert.equal(await tryToAdd(repository, token, 'Ada'), true);
    assert.equal(await repository.keepSetUpToken({ hash: hashToken('x'), expiresAt: Date.now() + minute }), 'account');
    assert.equal(await tryToAdd(repository, 'x', 'Eve'), false);
    await assert.rejects(
      openAccounts().setUp({ token, name: 'Eve', password }, visitor),
      isProblem('OBJECT_NOT_FOUND'),
    );
  });

  test('is created by only one of a hundred concurrent attempts, in every race', async (t) => {
    const { openAccounts, newToken, repository } = await openOn(t, kind);
    for (let race = 0; race < (kind === 'SQLite' ? 25 : 10); race++) {
      await repository.removePasswordAccount();
      const token = await newToken();
      // The test does not measure hashing, and 10,000 hashes would take minutes.
      const tries = Array.from({ length: 100 }, (_, i) => tryToAdd(repository, token, `racer ${race} ${i}`));
      assert.equal((await Promise.all(tries)).filter(Boolean).length, 1, `race ${race}`);
    }
    await repository.removePasswordAccount();
    const token = await newToken();
    const accounts = openAccounts();
    const ends = await Promise.allSettled(
      Array.from({ length: 4 }, (_, i) => accounts.setUp({ token, name: `racer ${i}`, password }, visitor)),
    );
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  test('is not created with another link, with an older one, or after an hour', async (t) => {
    const { clock, openAccounts, newToken } = await openOn(t, kind);
    const accounts = openAccounts();
    const older = await newToken();
    const token = await newToken();
    const isForbidden = isProblem('PERMISSION_DENIED');
    for (const bad of [older, `${token}x`, 'guessed']) {
      await assert.rejects(accounts.setUp({ token: bad, name: 'Eve', password }, visitor), isForbidden);
    }
    clock.time += 60 * minute;
    await assert.rejects(accounts.setUp({ token, name: 'Ada', password }, visitor), isForbidden);
    await accounts.setUp({ token: await newToken(), name: 'Ada', password }, visitor);
  });
}

async function tryToAdd(repository: ReturnType<typeof createAccountRepository>, token: string, name: string) {
  const { hashToken } = await import('./sessions.ts');
  const account = newTestAccount({ name });
  return repository.addPasswordAccount(account, hashToken(token), Date.now());
}

function attemptTests(kind: DatabaseKind): void {
  test('is delayed after ten wrong passwords, twice as long each time, but never for longer than the window', async (t) => {
    const { clock, signIn } = await openSetUp(t, kind);
    for (let i = 0; i < 10; i++) await assert.rejects(signIn({ password: wrong, address: `10.0.1.${i}` }), isRefused);
    for (const seconds of [1, 2, 4, 8]) {
      await assert.rejects(signIn(), (error) => isTooMany(error) && retryAfter(error) === seconds);
      clock.time += seconds * 1000;
      await assert.rejects(signIn({ password: wrong, address: '10.0.2.1' }), isRefused);
    }
    clock.time += 15 * minute;
    await signIn();
  });

  test('limits two hundred concurrent attempts to ten, from one address or from a hundred', async (t) => {
    for (const addresses of [1, 100]) {
      const { signIn } = await openSetUp(t, kind);
      const tries = Array.from({ length: 200 }, (_, i) =>
        signIn({ password: wrong, address: `10.1.0.${i % addresses}` }),
      );
      const ends = await Promise.allSettled(tries);
      const refusedCount = ends.filter((end) => end.status === 'rejected' && isRefused(end.reason)).length;
      assert.ok(refusedCount <= 10, `${refusedCount} passwords were looked at`);
      assert.ok(
        ends.every((end) => end.status === 'rejected' && (isRefused(end.reason) || isTooMany(end.reason))),
        `every try is refused in the same two ways: ${describeOthers(ends)}`,
      );
    }
  });

  test('can sign in with a known browser while others guess', async (t) => {
    const { begun, signIn } = await openSetUp(t, kind);
    assert.ok(hasPassword(begun.account));
    const deviceCookie = createDeviceCookie(begun.account);
    for (let i = 0; i < 10; i++) await assert.rejects(signIn({ password: wrong }), isRefused);
    await assert.rejects(signIn(), isTooMany);
    await signIn({ deviceCookie });
    await assert.rejects(
      signIn({ deviceCookie: `${deviceCookie.slice(0, -1)}!` }),
      isTooMany,
      'a forged device cookie is none',
    );
    for (let i = 0; i < 10; i++) await assert.rejects(signIn({ password: wrong, deviceCookie }), isRefused);
    await assert.rejects(signIn({ deviceCookie }), isTooMany, 'a device cookie has a separate counter');
  });

  test('limits an address to thirty attempts for all names, and a restart keeps the count', async (t) => {
    const { clock, openAccounts, signIn } = await openSetUp(t, kind);
    for (let i = 0; i < 30; i++) await assert.rejects(signIn({ name: `nobody ${i}`, password: wrong }), isRefused);
    const again = openAccounts();
    const origin = { address: '10.0.0.1', deviceCookie: undefined };
    await assert.rejects(again.signIn({ name: 'Ada', password }, origin), isTooMany);
    await again.signIn({ name: 'Ada', password }, { ...origin, address: '10.0.0.2' });
    clock.time += 15 * minute;
    await again.signIn({ name: 'Ada', password }, origin);
  });

  test('is not delayed for longer than the window when a clock is set back', async (t) => {
    const { clock, signIn } = await openSetUp(t, kind);
    for (let i = 0; i < 10; i++) await assert.rejects(signIn({ password: wrong }), isRefused);
    clock.time -= 20_000;
    await assert.rejects(signIn(), isTooMany, 'clocks may differ a little');
    clock.time -= 24 * 60 * minute;
    await signIn();
  });

  test('answers unknown names like wrong passwords, after the same work', async (t) => {
    const { signIn } = await openSetUp(t, kind);
    const messages = new Set<string>();
    const times: Record<'Ada' | 'Eve', number[]> = { Ada: [], Eve: [] };
    await assert.rejects(signIn({ name: 'warm up', password: wrong, address: '10.3.0.1' }));
    for (let i = 0; i < 9; i++) {
      for (const name of ['Ada', 'Eve'] as const) {
        const started = performance.now();
        await signIn({ name, password: wrong, address: `10.3.1.${i}` }).catch((error) => messages.add(error.message));
        times[name].push(performance.now() - started);
      }
    }
    assert.equal(messages.size, 1);
    const median = (values: number[]) => values.toSorted((a, b) => a - b)[4] ?? 0;
    // A hash takes 20 ms or more, and the rest a few ms. Without the decoy, an unknown name would be five times as
    // fast.
    assert.ok(median(times.Eve) > median(times.Ada) / 2, JSON.stringify(times));
  });
}

function retryAfter(error: unknown): number {
  return error instanceof Problem ? Number(error.headers['Retry-After']) : Number.NaN;
}

function sessionTests(kind: DatabaseKind): void {
  test('has sessions with 256 random bits, of which only a hash is stored', async (t) => {
    const { begun, repository } = await openSetUp(t, kind);
    const token = begun.token.reveal();
    assert.equal(Buffer.from(token, 'base64url').length, 32);
    assert.equal(Buffer.from(begun.consoleToken.reveal(), 'base64url').length, 32);
    for (const secret of [token, begun.consoleToken.reveal()]) assert.ok(!inspect(begun).includes(secret));
    assert.equal(await repository.findSession(token), undefined);
    assert.ok((await repository.findSession(begun.session.hash)) !== undefined);
  });

  test('has sessions that end after half an hour without use, and after twelve hours in any case', async (t) => {
    const { begun, clock, sessions, signIn } = await openSetUp(t, kind);
    clock.time += idleMs - 1;
    await sessions.use(tokensOf(begun));
    clock.time += idleMs;
    await assert.rejects(sessions.use(tokensOf(begun)), isRefused);

    const begunAt = clock.time;
    const tokens = tokensOf(await signIn());
    while (clock.time + 20 * minute < begunAt + absoluteMs) {
      clock.time += 20 * minute;
      await sessions.use(tokens);
    }
    clock.time = begunAt + absoluteMs;
    await assert.rejects(sessions.use(tokens), isRefused);
  });

  test('has sessions that need both of their tokens', async (t) => {
    const { begun, sessions, signIn } = await openSetUp(t, kind);
    const good = tokensOf(begun);
    const other = tokensOf(await signIn());
    for (const bad of [undefined, '', 'x', 'x'.repeat(43), other.console, good.cookie]) {
      await assert.rejects(sessions.use({ ...good, console: bad }), isRefused);
    }
    for (const bad of [undefined, '', 'x', 'x'.repeat(43), other.cookie, good.console]) {
      await assert.rejects(sessions.use({ ...good, cookie: bad }), isRefused);
    }
    await sessions.use(good);
  });

  test('ends one session at a sign-out, and all at a sign-out everywhere or with a new password', async (t) => {
    const { begun, sessions, signIn, accounts } = await openSetUp(t, kind);
    const others = [await signIn(), await signIn(), await signIn()];
    const alive = async () => {
      const uses = await Promise.allSettled([begun, ...others].map((one) => sessions.use(tokensOf(one))));
      return uses.filter(({ status }) => status === 'fulfilled').length;
    };
    await sessions.end(begun.session);
    assert.equal(await alive(), 3);

    const [one] = others;
    assert.ok(one !== undefined);
    const origin = { address: '10.0.0.9', deviceCookie: undefined };
    const change = { current_password: wrong, new_password: 'a heron reads the tide tables' };
    await assert.rejects(accounts.changePassword(one, change, origin), isRefused);
    assert.equal(await alive(), 3);
    const fresh = await accounts.changePassword(one, { ...change, current_password: password }, origin);
    assert.equal(await alive(), 0);
    await sessions.use(tokensOf(fresh));
    await assert.rejects(signIn(), isRefused);
    await signIn({ password: change.new_password });
    await sessions.endAll(fresh.account.id);
    await assert.rejects(sessions.use(tokensOf(fresh)), isRefused);
  });
}

function tokensOf({ token, consoleToken }: NewSession): SentTokens {
  return { cookie: token.reveal(), console: consoleToken.reveal() };
}

/** Describes the other outcomes for the message of a failed test. */
function describeOthers(ends: ReadonlyArray<PromiseSettledResult<unknown>>): string {
  const others = ends.filter((end) => end.status === 'fulfilled' || !(isRefused(end.reason) || isTooMany(end.reason)));
  return others.map((end) => (end.status === 'fulfilled' ? 'let in' : String(end.reason))).join('; ');
}
