import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { maxSessions } from '@quartermaster/contract';
import type { Clock } from '../../platform/clock.ts';
import { createNewId } from '../../platform/identifier.ts';
import { Problem } from '../../platform/problem.ts';
import { type DatabaseKind, temporaryDatabases } from '../../storage/database/testing/temporary-databases.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { createSessions, idleMs, longestUserAgent, type NewSession, type SessionOrigin, timesAt } from './sessions.ts';
import { storeAccount } from './testing/stored-account.ts';

const minute = 60_000;
const origin: SessionOrigin = { address: '10.0.0.1', userAgent: 'a browser' };

async function open(t: TestContext, kind: DatabaseKind) {
  const { database, close } = await temporaryDatabases[kind]();
  t.after(close);
  const clock: Clock & { time: number } = { time: Date.now(), now: () => clock.time };
  const repository = createAccountRepository(database);
  const newId = createNewId(clock);
  const sessions = createSessions({ repository, clock, newId });
  const ada = await storeAccount(database);
  const begin = (more: Partial<SessionOrigin> = {}) => sessions.begin(ada, { ...origin, ...more });
  const fill = async () => {
    const begun: NewSession[] = [];
    for (let i = 0; i < maxSessions; i += 1) begun.push(await begin());
    return begun;
  };
  const listIds = async () => (await sessions.list(ada.id)).map(({ id }) => id);
  const countRows = async () => (await database.read.selectFrom('session').select('hash').execute()).length;
  return { database, ada, begin, clock, countRows, fill, listIds, repository, sessions };
}

const use = ({ token, consoleToken }: NewSession) => ({ cookie: token.reveal(), console: consoleToken.reveal() });
const idsOf = (begun: readonly NewSession[]) => begun.map(({ session }) => session.id);
const isProblem = (code: string) => (error: unknown) => error instanceof Problem && error.code === code;
const isRefused = isProblem('SESSION_VALIDATION_FAILED');

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`sessions in ${kind}`, () => {
    boundTests(kind);
    listTests(kind);
  });
}

function boundTests(kind: DatabaseKind): void {
  test('the limit sessions_of_account allows exactly as many sessions, and one more ends the least recently used', async (t) => {
    const { begin, clock, fill, listIds, sessions } = await open(t, kind);
    const begun = await fill();
    assert.deepEqual(await listIds(), idsOf(begun));
    assert.ok(begun.every(({ ended }) => ended.leastUsed.length === 0 && ended.replaced.length === 0));
    const [first, second, ...others] = begun;
    assert.ok(first !== undefined && second !== undefined);
    clock.time += minute;
    await sessions.use(use(first));
    clock.time += minute;
    const last = await begin();
    assert.deepEqual(last.ended, { replaced: [], leastUsed: [second.session.id] });
    assert.deepEqual(await listIds(), idsOf([first, ...others, last]));
    await assert.rejects(sessions.use(use(second)), isRefused);
    for (const session of [first, ...others, last]) await sessions.use(use(session));
  });

  test('concurrent sessions at the limit each end one other session', async (t) => {
    const { begin, fill, listIds } = await open(t, kind);
    const begun = await fill();
    const together = await Promise.all(Array.from({ length: 10 }, () => begin()));
    const ended = together.flatMap((one) => one.ended.leastUsed);
    assert.equal(new Set(ended).size, 10);
    const expected = [...idsOf(begun), ...idsOf(together)].filter((id) => !ended.includes(id));
    assert.deepEqual(await listIds(), expected.toSorted());
    assert.equal(expected.length, maxSessions);
  });

  test('a replaced session frees a place for its successor', async (t) => {
    const { begin, fill, listIds } = await open(t, kind);
    const begun = await fill();
    const [replaced, ...others] = begun;
    const last = await begin({ replaces: replaced?.token.reveal() });
    assert.deepEqual(last.ended, { replaced: [replaced?.session.id], leastUsed: [] });
    assert.deepEqual(await listIds(), idsOf([...others, last]));
  });

  test('sessions that have ended are not listed, do not count, and are removed', async (t) => {
    const { begin, clock, countRows, fill, listIds, repository, sessions } = await open(t, kind);
    const [first] = await fill();
    assert.ok(first !== undefined);
    clock.time += minute;
    await sessions.use(use(first));
    clock.time += idleMs - minute;
    assert.deepEqual(await listIds(), [first.session.id]);
    assert.equal(await countRows(), maxSessions);
    await repository.sweep(timesAt(clock.time), 0);
    assert.equal(await countRows(), 1);
    clock.time += idleMs;
    assert.deepEqual(await listIds(), []);
    const last = await begin();
    assert.deepEqual(last.ended, { replaced: [], leastUsed: [] });
    assert.equal(await countRows(), 1);
  });

  test('a password change during a sign-in leaves no session of that sign-in', async (t) => {
    const { ada, begin, listIds, repository } = await open(t, kind);
    await begin();
    await repository.setPassword({ ...ada, passwordHash: 'new', browserSecret: 'new' });
    await assert.rejects(begin(), isRefused);
    assert.deepEqual(await listIds(), []);
  });
}

function listTests(kind: DatabaseKind): void {
  test('a session is ended by its id, which grants no access, and not by another account', async (t) => {
    const { database, ada, begin, listIds, sessions } = await open(t, kind);
    const [mine, other] = [await begin(), await begin()];
    const eve = await storeAccount(database, { name: 'Eve', browserSecret: 'e' });
    const hers = await sessions.begin(eve, origin);
    assert.deepEqual(await listIds(), idsOf([mine, other]));
    const isNotFound = isProblem('OBJECT_NOT_FOUND');
    for (const id of [mine.session.hash, mine.token.reveal(), hers.session.id, 'sess0', '']) {
      await assert.rejects(sessions.endById(ada.id, id), isNotFound);
    }
    await assert.rejects(sessions.use({ ...use(mine), cookie: mine.session.id }), isRefused);
    for (const session of [mine, other, hers]) await sessions.use(use(session));
    await sessions.endById(ada.id, other.session.id);
    await assert.rejects(sessions.use(use(other)), isRefused);
    await assert.rejects(sessions.endById(ada.id, other.session.id), isNotFound);
    assert.deepEqual(await listIds(), idsOf([mine]));
  });

  test('the limit session_user_agent keeps exactly as many characters, and only printable ones', async (t) => {
    const { ada, begin, sessions } = await open(t, kind);
    for (const userAgent of [
      'a'.repeat(longestUserAgent),
      'b'.repeat(longestUserAgent + 1),
      undefined,
      'c\x1b[31m\t\xe9',
    ]) {
      await begin({ userAgent });
    }
    await begin({ address: `fe80::1%${'z'.repeat(500)}` });
    const list = await sessions.list(ada.id);
    assert.deepEqual(
      list.map(({ userAgent }) => userAgent),
      ['a'.repeat(longestUserAgent), 'b'.repeat(longestUserAgent), '', 'c?[31m??', 'a browser'],
    );
    assert.equal(list.at(-1)?.clientAddress.length, 64);
  });
}
