import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { noAudit } from '../../platform/audit/testing/no-audit.ts';
import { systemClock } from '../../platform/clock.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { openTemporaryDatabase } from '../../storage/database/testing/open-temporary-database.ts';
import { createCredentialProfileRepository } from '../../storage/repositories/credential-profile-repository.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import { createFirstKey } from '../projects/first-start.ts';
import type { CredentialProfileRepository } from './credential-profile-repository.ts';
import { createCredentialProfiles } from './credential-profiles.ts';
import { createEncrypter, createEncryptionKey, readEncryptionKey } from './encryption.ts';
import { resolveRequest } from './resolve-credentials.ts';

/** Opens a store with one profile for several processes. */
async function open(t: TestContext) {
  const { database, folder, close } = await openTemporaryDatabase();
  t.after(close);
  const [clock, newId] = [systemClock, createNewId()];
  await createFirstKey({ repository: createProjectRepository(database), audit: noAudit, clock, newId }, folder);
  const [project] = await database.read.selectFrom('project').select('id').execute();
  const projectId = project?.id ?? '';
  const key = readEncryptionKey(createEncryptionKey());
  assert.ok(key);
  const encrypter = createEncrypter(key);
  const repository = createCredentialProfileRepository(database);
  const lines: string[] = [];
  const logger = createLogger('warn', { write: (line) => lines.push(JSON.parse(line).msg) });
  /** Simulates another process, or a restart. */
  const process = (changes: Partial<CredentialProfileRepository> = {}) => {
    const readCredentials = (_: string, credentials: Readonly<Record<string, unknown>>) => ({ ...credentials });
    const seen = { ...repository, ...changes };
    return createCredentialProfiles({ repository: seen, encrypter, readCredentials, clock, newId, logger });
  };
  const profiles = process();
  const credentials = { CLIENT: 'client', REFRESH: 'refresh-1' };
  await profiles.create({ projectId }, { name: 'mine', bundle_id: 'mail', credentials });
  const resolve = async (from = profiles) => {
    const { credentials: resolved, refreshToken: token } = await from.resolve({ projectId }, 'mail', {
      $profile: 'mine',
    });
    assert.ok(token);
    return { resolved, token };
  };
  return { process, profiles, projectId, repository, resolve, lines };
}

/** Simulates a provider that accepts each refresh token once. */
function rotatingProvider() {
  let valid = 1;
  let [requests, atOnce, mostAtOnce] = [0, 0, 0];
  const ask = async (token: string) => {
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    for (let iterations = 0; iterations < 20; iterations++) await turn();
    atOnce -= 1;
    requests += 1;
    assert.equal(token, `refresh-${valid}`, 'a refresh token is used once');
    valid += 1;
    return { rotated: `refresh-${valid}` };
  };
  return { ask, counts: () => ({ asked: requests, mostAtOnce }) };
}

test('a rotated refresh token is stored, encrypted, before any caller gets the access token, and survives a restart', async (t) => {
  const { process, projectId, repository, resolve } = await open(t);
  const { ask } = rotatingProvider();
  await (await resolve()).token.refresh('REFRESH', ask);
  const row = await repository.find(projectId, 'mine');
  assert.doesNotMatch(JSON.stringify(row), /refresh-/);
  const { resolved, token } = await resolve(process());
  assert.deepEqual(resolved, { CLIENT: 'client', REFRESH: 'refresh-2' });
  await token.refresh('REFRESH', ask);
  assert.equal((await resolve(process())).resolved.REFRESH, 'refresh-3');
});

test('concurrent refreshes of a profile by several processes run one at a time, each with the newest token', async (t) => {
  const { process, resolve } = await open(t);
  const { ask, counts } = rotatingProvider();
  const tokens = await Promise.all([process(), process(), process(), process()].map(resolve));
  await Promise.all(tokens.map(({ token }) => token.refresh('REFRESH', ask)));
  assert.deepEqual(counts(), { asked: 4, mostAtOnce: 1 });
  assert.equal((await resolve()).resolved.REFRESH, 'refresh-5');
});

test('a refresh that ends while the project replaces the credentials keeps the new credentials', async (t) => {
  const { profiles, projectId, resolve, lines } = await open(t);
  const replaced = { CLIENT: 'other', REFRESH: 'given' };
  const { token } = await resolve();
  await token.refresh('REFRESH', async () => {
    await profiles.update({ projectId }, 'mine', replaced);
    return { rotated: 'late' };
  });
  assert.deepEqual((await resolve()).resolved, replaced);
  assert.notEqual((await resolve()).token.version, token.version);
  assert.match(lines.join(), /dropped/);
});

test('when a process ends before it stores the token, the next refresh logs that the token is in doubt', async (t) => {
  const { projectId, repository, resolve, lines } = await open(t);
  const profile = await repository.find(projectId, 'mine');
  await repository.claimRefresh(profile?.id ?? '', 'of a process that was killed', -1);
  await (await resolve()).token.refresh('REFRESH', rotatingProvider().ask);
  assert.deepEqual(lines, ['token refresh in doubt: an earlier refresh did not finish']);
  assert.equal((await resolve()).resolved.REFRESH, 'refresh-2');
});

test('a new refresh token that the database refuses fails the refresh, and the next refresh stores it', async (t) => {
  const { process, repository, resolve, lines } = await open(t);
  let isAway = true;
  const broken = process({
    replace: async (...change) => {
      if (isAway) throw new Error('the database is away');
      return await repository.replace(...change);
    },
  });
  const { ask } = rotatingProvider();
  const { token } = await resolve(broken);
  await assert.rejects(token.refresh('REFRESH', ask), /could not be stored/);
  assert.deepEqual(lines, ['token refresh in doubt: the new refresh token was not stored']);
  isAway = false;
  await token.refresh('REFRESH', ask);
  assert.equal((await resolve()).resolved.REFRESH, 'refresh-3');
});

test('a refresh that the provider refuses changes nothing and frees the claim', async (t) => {
  const { resolve } = await open(t);
  const { token } = await resolve();
  await assert.rejects(
    token.refresh('REFRESH', async () => await Promise.reject(new Error('refused'))),
    /refused/,
  );
  await token.refresh('REFRESH', async () => ({ rotated: undefined }));
  assert.equal((await resolve()).resolved.REFRESH, 'refresh-1');
});

test('members refreshToken and renew that a client sends beside its credentials are dropped', async () => {
  const sent = { bundle_id: 'mail', credentials: { CLIENT: 'client' }, refreshToken: 'forged', renew: 'forged' };
  const call = await resolveRequest((_project, _bundle, credentials) => ({ credentials }), { projectId: 'p' }, sent);
  assert.deepEqual(call, {
    bundle_id: 'mail',
    credentials: { CLIENT: 'client' },
    refreshToken: undefined,
    renew: undefined,
  });
});
