import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import { type AdapterEvent, createAdapter, hashSecret, mostPairs } from '../adapter.ts';
import type { OauthRepository, StoredGrant } from '../oauth-repository.ts';

export interface OpenedOauth {
  readonly repository: OauthRepository;
  /** A second process on the same database. */
  readonly other: OauthRepository;
  newProject(): Promise<string>;
  /** Returns everything that the database stores about codes, tokens and requests. */
  storedText(): Promise<string>;
}

const newId = createNewId();
const start = 1_800_000_000_000;
const refused = /^Error: (?:AuthorizationCode|RefreshToken) used before$/;

/** Tests the storage of the authorization server, with every repository and a clock of the test. */
export function testOauthAdapter(opened: () => OpenedOauth): void {
  async function setUp() {
    const { repository, other, newProject } = opened();
    const clock = { time: start, now: () => clock.time };
    const events: AdapterEvent[] = [];
    const deps = {
      clock,
      findClient: async () => undefined,
      refuse: (reason: string) => new Error(reason),
      onEvent: (event: AdapterEvent) => void events.push(event),
    };
    const grant: StoredGrant = {
      ...{
        id: newId('grant'),
        clientId: 'https://app.example/c',
        accountId: 'admn1',
        projectId: await newProject(),
      },
      ...{ resource: 'https://q.example/mcp', scopes: ['collections:read'], collections: null, tools: ['weather'] },
      ...{ createdAt: start, expiresAt: start + 86_400_000, lastUsedAt: null, revokedAt: null },
    };
    await repository.addGrant(grant);
    const [here, there] = [createAdapter({ ...deps, repository }), createAdapter({ ...deps, repository: other })];
    return { repository, clock, events, grant, here, there };
  }
  const isAlive = async (repository: OauthRepository, { id }: StoredGrant) =>
    (await repository.findGrant(id))?.revokedAt === null;
  const payloadOf = (grant: StoredGrant) => ({ grantId: grant.id, clientId: grant.clientId });

  test('a record is found under its id until it expires or is removed, and its id is not stored', async () => {
    const { clock, grant, here } = await setUp();
    const [requests, id] = [here('Interaction'), newId('key')];
    const returnTo = `https://q.example/oauth/authorize/${id}`;
    await requests.upsert(id, { jti: id, returnTo, params: { scope: 'files' } }, 600);
    assert.deepEqual(await requests.find(id), { jti: id, returnTo, params: { scope: 'files' } });
    await requests.upsert(id, { jti: id, returnTo, result: { consent: {} } }, 600);
    assert.deepEqual(await requests.find(id), { jti: id, returnTo, result: { consent: {} } });
    assert.equal(await here('AccessToken').find(id), undefined, 'the model is part of the key');
    assert.ok(!(await opened().storedText()).includes(id), 'the id is stored as a hash only');
    clock.time = start + 600_000;
    assert.equal(await requests.find(id), undefined);
    const tokens = here('AccessToken');
    await tokens.upsert('token-1', payloadOf(grant), 3600);
    await tokens.destroy('token-1');
    assert.equal(await tokens.find('token-1'), undefined);
  });

  test('a grant is read with its scopes for one resource, and nothing of it can be used after its end', async () => {
    const { repository, clock, grant, here } = await setUp();
    const tokens = here('AccessToken');
    await tokens.upsert(grant.id, payloadOf(grant), 3600);
    assert.deepEqual(await here('Grant').find(grant.id), {
      ...{ kind: 'Grant', jti: grant.id, iat: start / 1000, exp: start / 1000 + 86_400 },
      ...{ accountId: 'admn1', clientId: grant.clientId, resources: { [grant.resource]: 'collections:read' } },
    });
    assert.deepEqual(await repository.findGrant(grant.id), grant);
    assert.deepEqual(await repository.findUsableGrants([grant.id, 'gran0'], start), [`${grant.id} administrator`]);
    const found = await repository.findRecords('AccessToken', ['unknown', hashSecret(grant.id)], start);
    assert.deepEqual(
      found.map((one) => [one.record.hash, one.grant?.id]),
      [[hashSecret(grant.id), grant.id]],
    );
    const listed = async (projects: string[], accountId: string | null) =>
      (await repository.listGrants({ projects: new Set(projects), accountId }, start)).map(({ id }) => id);
    assert.deepEqual(await listed([grant.projectId], null), [grant.id]);
    assert.deepEqual(await listed([], grant.accountId), [grant.id]);
    assert.deepEqual(await listed(['another'], 'another'), []);
    await here('Grant').destroy(grant.id);
    assert.equal(await repository.revokeGrant(grant.id, start), false, 'a grant ends once');
    assert.equal(await here('Grant').find(grant.id), undefined);
    assert.equal(await tokens.find(grant.id), undefined);
    assert.deepEqual(await repository.findUsableGrants([grant.id], start), []);
    assert.deepEqual(await listed([grant.projectId], grant.accountId), []);
    const later = await setUp();
    later.clock.time = later.grant.expiresAt;
    assert.equal(await later.here('Grant').find(later.grant.id), undefined);
    assert.ok(clock.now() < grant.expiresAt);
  });

  test('a code is used once, and a second process that uses it too ends the grant', async () => {
    const { repository, grant, here, there } = await setUp();
    const code = newId('key');
    await here('AuthorizationCode').upsert(code, payloadOf(grant), 60);
    // Both have read the code before either uses it.
    assert.equal((await here('AuthorizationCode').find(code))?.consumed, undefined);
    assert.equal((await there('AuthorizationCode').find(code))?.consumed, undefined);
    const uses = await Promise.allSettled(
      [here, there, here, there].map((node) => node('AuthorizationCode').consume(code)),
    );
    assert.equal(uses.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const use of uses) if (use.status === 'rejected') assert.match(String(use.reason), refused);
    assert.equal(await isAlive(repository, grant), false);
  });

  test('a code that was used is found as used, so that the library ends the grant', async () => {
    const { repository, clock, events, grant, here } = await setUp();
    const [codes, code] = [here('AuthorizationCode'), newId('key')];
    await codes.upsert(code, payloadOf(grant), 60);
    await codes.consume(code);
    assert.equal((await codes.find(code))?.consumed, start / 1000);
    assert.deepEqual(events, ['code_reused']);
    assert.equal(await isAlive(repository, grant), true);
    clock.time = start + 60_000;
    assert.equal(await codes.find(code), undefined, 'it has expired');
  });

  test(`a refresh token yields ${mostPairs} pairs within 60 seconds, whatever process is asked`, async () => {
    const { repository, clock, events, grant, here, there } = await setUp();
    const token = newId('key');
    await here('RefreshToken').upsert(token, payloadOf(grant), 3600);
    await here('RefreshToken').consume(token);
    clock.time = start + 59_000;
    assert.equal((await there('RefreshToken').find(token))?.consumed, undefined);
    const uses = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? here : there)('RefreshToken').consume(token)),
    );
    assert.equal(uses.filter(({ status }) => status === 'fulfilled').length, mostPairs - 1);
    assert.equal(events.filter((event) => event === 'shared').length, mostPairs - 1);
    assert.equal(await here('RefreshToken').find(token), undefined, 'further uses find nothing');
    assert.equal(await isAlive(repository, grant), true);
  });

  test('a refresh token is found as used 61 seconds after its first use, also after a sweep', async () => {
    const { repository, clock, events, grant, here } = await setUp();
    const [tokens, token] = [here('RefreshToken'), newId('key')];
    await tokens.upsert(token, payloadOf(grant), 3600);
    await tokens.consume(token);
    clock.time = start + 30_000;
    await tokens.consume(token);
    clock.time = start + 61_000;
    await repository.sweep(clock.time);
    assert.equal((await tokens.find(token))?.consumed, start / 1000, 'a later use does not extend the time');
    assert.deepEqual(events, ['shared', 'token_reused']);
    await assert.rejects(tokens.consume(token), refused);
    clock.time = start + 3_600_000;
    await repository.sweep(clock.time);
    assert.equal(await tokens.find(token), undefined);
  });

  test('an event is counted to its limit in all processes, and anew in the next window', async () => {
    const { repository, other } = opened();
    const hash = newId('key');
    const counted = await Promise.all(
      Array.from({ length: 8 }, (_, i) => (i % 2 ? repository : other).countEvent(hash, { expiresAt: start, most: 5 })),
    );
    assert.equal(counted.filter(Boolean).length, 5);
    assert.equal(await repository.countEvent(hash, { expiresAt: start, most: 5 }), false);
    await repository.sweep(start);
    assert.equal(await repository.countEvent(hash, { expiresAt: start, most: 5 }), true);
  });

  test('registered applications without a grant are limited and removed after a day', async () => {
    const { repository } = opened();
    const { grant, here } = await setUp();
    await here('RefreshToken').upsert(newId('key'), payloadOf(grant), 30 * 86_400);
    const clientOf = (id: string) =>
      ({ id, kind: 'registered', metadata: { client_name: id }, createdAt: start, freshUntil: 0 }) as const;
    await repository.sweep(start + 10 * 86_400_000);
    assert.equal(await repository.addClient(clientOf(grant.clientId), 1), true);
    const [waiting, further] = [newId('client'), newId('client')];
    assert.equal(await repository.addClient(clientOf(waiting), 1), true, 'one with a grant does not count');
    assert.equal(await repository.addClient(clientOf(further), 1), false);
    await repository.sweep(start + 86_400_000);
    assert.equal(await repository.findClient(waiting), undefined);
    assert.deepEqual(await repository.findClient(grant.clientId), clientOf(grant.clientId));
    await repository.saveClient({ ...clientOf(grant.clientId), metadata: { client_name: 'new' }, freshUntil: 9 });
    const [changed] = await repository.findClients([grant.clientId, waiting]);
    assert.deepEqual([changed?.metadata, changed?.freshUntil], [{ client_name: 'new' }, 9]);
  });
}
