import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { type ListQuery, scopes } from '@quartermaster/contract';
import { noAudit } from '../../platform/audit/testing/no-audit.ts';
import type { Clock } from '../../platform/clock.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { Problem } from '../../platform/problem.ts';
import { Secret } from '../../platform/secret.ts';
import type { Database } from '../../storage/database/database.ts';
import { insertCollection } from '../../storage/database/testing/insert-rows.ts';
import { type DatabaseKind, temporaryDatabases } from '../../storage/database/testing/temporary-databases.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import { createApiKey, looksLikeApiKey } from './api-key.ts';
import { createFirstKey, findUnusedFirstKey } from './first-start.ts';
import { type KeyRing, openKeyRing } from './key-ring.ts';
import type { ProjectRepository, StoredKey } from './project-repository.ts';
import { createProjects, maxProjects } from './projects.ts';

async function openOn(t: TestContext, kind: DatabaseKind) {
  const logger = createLogger('silent');
  const { database, folder, close } = await temporaryDatabases[kind]();
  const clock: Clock & { time: number } = { time: Date.now(), now: () => clock.time };
  const repository = createProjectRepository(database);
  const deps = { repository, audit: noAudit, clock, newId: createNewId(clock) };
  const rings: KeyRing[] = [];
  const openRing = async (of: ProjectRepository = repository) => {
    const ring = await openKeyRing({ repository: of, clock, logger, refreshMs: 3_600_000 });
    rings.push(ring);
    return ring;
  };
  t.after(async () => {
    for (const ring of rings) await ring.close();
    await close();
  });
  return { folder, database, clock, deps, repository, openRing, projects: createProjects(deps) };
}

/** Inserts keys directly, because the use case commits each one separately. */
async function addKeys({ write }: Database, { projectId }: StoredKey, count: number): Promise<void> {
  const row = (id: string) => ({
    ...{ id, project_id: projectId, name: id, hash: id, hint: '1234', scopes: '["files"]', created_at: 1 },
    ...{ expires_at: null, revoked_at: null, last_used_at: null },
  });
  const rows = Array.from({ length: count }, (_, n) => row(`added ${n}`));
  await write.insertInto('api_key').values(rows).execute();
}

const addCollection = (database: Database, projectId: string) => insertCollection(database, { project_id: projectId });

const isRejected = (error: unknown) => error instanceof Problem && error.code === 'APIKEY_VALIDATION_FAILED';

test('a key has a prefix and a checksum that detects every single wrong character', () => {
  const key = createApiKey();
  assert.match(key, /^qmk_[0-9A-Za-z]{36}$/);
  assert.ok(looksLikeApiKey(key));
  for (let i = 4; i < key.length; i++) {
    const other = key[i] === 'a' ? 'b' : 'a';
    assert.ok(!looksLikeApiKey(key.slice(0, i) + other + key.slice(i + 1)), `character ${i}`);
  }
});

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  describe(`projects and keys in ${kind}`, () => {
    const open = (t: TestContext) => openOn(t, kind);

    test('a new installation gets one project and one key, in a file that only its owner can read', async (t) => {
      const { deps, folder, projects, openRing } = await open(t);
      const first = await createFirstKey(deps, folder);
      assert.ok(first?.file);
      assert.equal((await readFile(first.file, 'utf8')).trim(), first.key.reveal());
      assert.equal((await stat(first.file)).mode & 0o777, 0o600);
      assert.equal((await projects.listProjects()).length, 1);
      const ring = await openRing();
      assert.deepEqual(
        [...(await ring.authenticate(`Bearer ${first.key.reveal()}`)).permissions.scopes].sort(),
        [...scopes].sort(),
      );
      assert.equal(await createFirstKey(deps, folder), undefined);
    });

    test('the first key is found in its file until it is used, revoked or replaced by another text', async (t) => {
      const { deps, folder, projects, repository } = await open(t);
      const find = async (at = folder) => (await findUnusedFirstKey(deps, at))?.key.reveal();
      assert.equal(await find(), undefined);
      const first = await createFirstKey(deps, folder);
      assert.equal(await find(), first?.key.reveal());
      assert.equal(await find(join(folder, 'other')), undefined);
      await repository.touchKeys(new Map([[first?.keyId ?? '', 1]]));
      assert.equal(await find(), undefined, 'it is used');
      const [project] = await projects.listProjects();
      const second = await projects.createKey({ projectId: project?.id ?? '', name: 'two', scopes, expiresAt: null });
      await writeFile(join(folder, 'first-key'), second.key.reveal());
      assert.equal(await find(), second.key.reveal());
      await projects.revokeKey(second.stored.id);
      assert.equal(await find(), undefined, 'it is revoked');
      await writeFile(join(folder, 'first-key'), createApiKey());
      assert.equal(await find(), undefined, 'it is a key of another store');
    });

    test('a new installation uses the key of the settings and writes it to no file', async (t) => {
      const { deps, folder, openRing, projects } = await open(t);
      const chosen = new Secret(createApiKey());
      const first = await createFirstKey(deps, folder, chosen);
      assert.equal(first?.file, null);
      assert.deepEqual((await readdir(folder)).includes('first-key'), false);
      const ring = await openRing();
      assert.equal((await ring.authenticate(`Bearer ${chosen.reveal()}`)).keyId, first?.keyId);
      await projects.revokeKey(first?.keyId ?? '');
      assert.equal(await createFirstKey(deps, folder, chosen), undefined, 'a revoked key does not come back');
      await ring.refresh();
      await assert.rejects(ring.authenticate(`Bearer ${chosen.reveal()}`), isRejected);
    });

    test('a start with a first key that is not an API key is refused, and the error does not contain it', async (t) => {
      const { deps, folder, projects } = await open(t);
      const text = `${createApiKey().slice(0, -1)}!`;
      await assert.rejects(createFirstKey(deps, folder, new Secret(text)), (error: Error) => {
        assert.match(error.message, /QUARTERMASTER_FIRST_KEY_FILE.*key generate/);
        assert.ok(!error.message.includes(text));
        return true;
      });
      assert.deepEqual(await projects.listProjects(), []);
    });

    test('when several processes start on one database at the same time, one creates the first key', async (t) => {
      const { deps, folder, projects } = await open(t);
      const firstKeys = await Promise.all(Array.from({ length: 8 }, () => createFirstKey(deps, folder)));
      const winners = firstKeys.filter((one) => one !== undefined);
      assert.equal(winners.length, 1);
      assert.equal((await projects.listKeys()).length, 1);
      assert.equal((await readFile(join(folder, 'first-key'), 'utf8')).trim(), winners[0]?.key.reveal());
    });

    test('only a hash of a key is stored, and a key prints as a secret', async (t) => {
      const { projects, repository } = await open(t);
      const project = await projects.createProject('one');
      const created = await projects.createKey({
        projectId: project.id,
        name: 'n',
        scopes: ['files'],
        expiresAt: null,
      });
      const text = created.key.reveal();
      assert.ok(!JSON.stringify(await repository.listKeys()).includes(text.slice(0, -4)));
      assert.ok(!inspect(created, { depth: 9 }).includes(text.slice(0, -4)));
    });

    test('missing, malformed, unknown, revoked and expired keys get the same response', async (t) => {
      const { projects, clock, openRing } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['files'] as const };
      const revoked = await projects.createKey({ ...request, expiresAt: null });
      const expired = await projects.createKey({ ...request, expiresAt: clock.time + 1000 });
      const good = await projects.createKey({ ...request, expiresAt: clock.time + 10_000 });
      await projects.revokeKey(revoked.stored.id);
      clock.time += 2000;
      const ring = await openRing();
      assert.equal((await ring.authenticate(`Bearer ${good.key.reveal()}`)).projectId, project.id);

      const answers = new Set<string>();
      const headers = [
        undefined,
        '',
        'Bearer ',
        'Basic abc',
        `Bearer ${good.key.reveal()} `,
        `Bearer ${good.key.reveal().slice(0, -1)}`,
        `Bearer ${createApiKey()}`,
        `Bearer ${revoked.key.reveal()}`,
        `Bearer ${expired.key.reveal()}`,
      ];
      for (const header of headers) {
        await assert.rejects(ring.authenticate(header), (error: unknown) => {
          answers.add(
            error instanceof Problem ? `${error.code} ${error.message} ${JSON.stringify(error.headers)}` : 'other',
          );
          return isRejected(error);
        });
      }
      assert.equal(answers.size, 1);
    });

    test('names that are empty, too long, or contain control characters are refused', async (t) => {
      const { projects } = await open(t);
      const { id: projectId } = await projects.createProject('x'.repeat(127));
      for (const name of ['', ' ', 'x'.repeat(128), 'a\u001b[31m', 'a\u009b31m', 'a\nb', 'a\0', '\ud83d']) {
        const refused = (error: unknown) => error instanceof Problem && error.code === 'REQUEST_VALIDATION_ERROR';
        await assert.rejects(projects.createProject(name), refused);
        await assert.rejects(projects.createKey({ projectId, name, scopes: ['files'], expiresAt: null }), refused);
      }
      const scopes = ['files', 'admin', 'files'] as const;
      assert.deepEqual((await projects.createKey({ projectId, name: 'k', scopes, expiresAt: null })).stored.scopes, [
        'files',
        'admin',
      ]);
      assert.equal((await projects.createProject('Ärger & Söhne 😀')).name, 'Ärger & Söhne 😀');
    });

    test('a rotated key works until the overlap ends, and the new one works immediately with the same scopes', async (t) => {
      const { projects, clock, openRing } = await open(t);
      const project = await projects.createProject('one');
      const old = await projects.createKey({
        projectId: project.id,
        name: 'n',
        scopes: ['files', 'admin'],
        expiresAt: null,
      });
      const rotated = await projects.rotateKey(old.stored.id, 60_000);
      const ring = await openRing();
      await ring.authenticate(`Bearer ${old.key.reveal()}`);
      const { permissions } = await ring.authenticate(`Bearer ${rotated.key.reveal()}`);
      assert.deepEqual([...permissions.scopes], ['files', 'files:read', 'admin', 'metrics']);
      clock.time += 60_001;
      await assert.rejects(ring.authenticate(`Bearer ${old.key.reveal()}`), isRejected);
      await ring.authenticate(`Bearer ${rotated.key.reveal()}`);
    });

    test('a key that an expiring key creates or rotates ends no later than that key', async (t) => {
      const { projects, clock } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['files'] as const, expiresAt: null };
      const endsAt = clock.time + 10_000;
      const lasting = await projects.createKey(request);
      const maker = await projects.createKey({ ...request, expiresAt: endsAt });
      const makerId = maker.stored.id;
      assert.equal((await projects.createKey({ ...request, makerId })).stored.expiresAt, endsAt);
      const sooner = { ...request, makerId, expiresAt: endsAt - 1 };
      assert.equal((await projects.createKey(sooner)).stored.expiresAt, endsAt - 1);
      const later = projects.createKey({ ...request, makerId, expiresAt: endsAt + 1 });
      await assert.rejects(later, { code: 'REQUEST_VALIDATION_ERROR' });
      assert.equal((await projects.createKey({ ...request, makerId: lasting.stored.id })).stored.expiresAt, null);
      assert.equal((await projects.rotateKey(lasting.stored.id, 0, makerId)).stored.expiresAt, endsAt);
    });

    test('a key keeps its collections and tools, and a key that it creates or rotates has no others', async (t) => {
      const { projects, repository, clock, database } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['admin'] as const, expiresAt: null };
      const { stored } = await projects.createKey({ ...request, tools: ['slack', 'time/convert_time', 'slack'] });
      assert.deepEqual((await repository.findKey(stored.id))?.tools, ['slack', 'time/convert_time']);
      const loaded = (await repository.changedKeys(null, clock.time)).keys;
      assert.deepEqual(loaded.find(({ id }) => id === stored.id)?.tools, stored.tools);
      const [own, other] = [await addCollection(database, project.id), await addCollection(database, project.id)];
      const reader = await projects.createKey({ ...request, collections: [own, own] });
      assert.deepEqual((await repository.findKey(reader.stored.id))?.collections, [own]);
      const missing = { code: 'OBJECT_NOT_FOUND' };
      const foreign = await addCollection(database, (await projects.createProject('two')).id);
      await assert.rejects(projects.createKey({ ...request, collections: [foreign] }), missing);
      const byReader = { ...request, makerId: reader.stored.id };
      assert.deepEqual((await projects.createKey(byReader)).stored.collections, [own]);
      await assert.rejects(projects.createKey({ ...byReader, collections: [other] }), { code: 'PERMISSION_DENIED' });
      assert.deepEqual((await projects.rotateKey(reader.stored.id, 0)).stored.collections, [own]);
      const free = await projects.createKey(request);
      assert.equal((await repository.findKey(free.stored.id))?.tools, null);
      const makerId = stored.id;
      assert.deepEqual((await projects.createKey({ ...request, makerId })).stored.tools, stored.tools);
      const denied = { code: 'PERMISSION_DENIED' };
      await assert.rejects(projects.createKey({ ...request, makerId, tools: ['time'] }), denied);
      await assert.rejects(projects.rotateKey(free.stored.id, 0, makerId), denied);
      assert.deepEqual((await projects.rotateKey(stored.id, 0)).stored.tools, stored.tools);
    });

    test('revoking a key with its descendants revokes the keys that it created, directly or indirectly', async (t) => {
      const { projects, repository, clock } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['admin'] as const, expiresAt: null };
      const create = async (makerId: string | null) => (await projects.createKey({ ...request, makerId })).stored.id;
      const other = await create(null);
      const [maker, sibling] = [await create(other), await create(other)];
      const child = await create(maker);
      const grandchild = await create(child);
      const rotated = (await projects.rotateKey(child, 60_000)).stored.id;
      assert.equal((await repository.findKey(rotated))?.makerId, maker, 'it stays a descendant');
      assert.equal(await projects.countDescendants(maker), 3);
      await projects.revokeKey(grandchild);
      assert.equal(await projects.countDescendants(maker), 2);
      const revoked = await projects.revokeKey(maker, { withDescendants: true });
      assert.deepEqual(revoked.sort(), [maker, child, rotated].sort());
      const usable = (await repository.changedKeys(null, clock.time)).keys.map(({ id }) => id);
      assert.deepEqual(usable.sort(), [other, sibling].sort());
      assert.deepEqual(await projects.revokeKey(other), [other], 'without descendants only the key itself');
    });

    test('a key that is revoked while it creates another one leaves no usable key behind', async (t) => {
      const { projects, repository, deps } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['admin'] as const, expiresAt: null };
      const makerId = (await projects.createKey(request)).stored.id;
      const addKey: typeof repository.addKey = async (key, bound) => {
        await repository.revokeKey(makerId, deps.clock.now(), true);
        return await repository.addKey(key, bound);
      };
      const late = createProjects({ ...deps, repository: { ...repository, addKey } });
      await assert.rejects(late.createKey({ ...request, makerId }), isRejected);
      assert.deepEqual((await repository.changedKeys(null, deps.clock.now())).keys, []);
    });

    test('the limit projects_of_installation accepts exactly as many projects and refuses one more', async (t) => {
      const { projects, database } = await open(t);
      const rows = Array.from({ length: maxProjects - 1 }, (_, n) => ({ id: `p${n}`, name: `p${n}`, created_at: 1 }));
      for (let at = 0; at < rows.length; at += 1_000) {
        const some = rows.slice(at, at + 1_000);
        await database.write.insertInto('project').values(some).execute();
      }
      const two = await Promise.allSettled(['one', 'two'].map((name) => projects.createProject(name)));
      assert.deepEqual(two.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'one of two at once');
      assert.equal((await projects.listProjects()).length, maxProjects);
      await assert.rejects(projects.createProject('three'), { code: 'RESOURCE_LIMIT_REACHED' });
      await assert.rejects(projects.createProject('p1'), { code: 'DUPLICATE_OBJECT' });
    });

    test('a project has at most 1,000 usable keys, and revoking one allows another', async (t) => {
      const { projects, database } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['files'] as const, expiresAt: null };
      const first = await projects.createKey(request);
      await addKeys(database, first.stored, 998);
      const two = await Promise.allSettled([projects.createKey(request), projects.createKey(request)]);
      assert.deepEqual(two.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'one of two at once');
      await assert.rejects(projects.createKey(request), { code: 'RESOURCE_LIMIT_REACHED' });
      await assert.rejects(projects.rotateKey(first.stored.id, 60_000), { code: 'RESOURCE_LIMIT_REACHED' });
      const successor = await projects.rotateKey(first.stored.id, 0);
      await assert.rejects(projects.createKey(request), { code: 'RESOURCE_LIMIT_REACHED' });
      await projects.revokeKey(successor.stored.id);
      await projects.createKey(request);
      const other = await projects.createProject('two');
      await projects.createKey({ ...request, projectId: other.id });
    });

    test('a key ring loads all keys once, and later only changed keys', async (t) => {
      const { projects, repository, database, clock, openRing } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['files'] as const, expiresAt: null };
      const revoked = await projects.createKey(request);
      await addKeys(database, revoked.stored, 500);
      const loaded: number[] = [];
      const counted: typeof repository = {
        ...repository,
        changedKeys: async (...args) => {
          const changes = await repository.changedKeys(...args);
          loaded.push(changes.keys.length);
          return changes;
        },
      };
      const ring = await openRing(counted);
      const caller = `Bearer ${revoked.key.reveal()}`;
      await ring.authenticate(caller);
      await ring.refresh();
      await repository.touchKeys(new Map([[revoked.stored.id, clock.time]]));
      await ring.refresh();
      // Another process revokes the key, so the ring gets no notification.
      await repository.revokeKey(revoked.stored.id, clock.time, false);
      await ring.refresh();
      await assert.rejects(ring.authenticate(caller), isRejected);
      assert.deepEqual(loaded.slice(0, 4), [501, 0, 0, 1]);

      const before = loaded.length;
      const unknown = Array.from({ length: 300 }, () => ring.authenticate(`Bearer ${createApiKey()}`));
      for (const outcome of await Promise.allSettled(unknown)) assert.equal(outcome.status, 'rejected');
      assert.ok(loaded.length - before <= 2, `${loaded.length - before} looks for 300 unknown keys`);
      assert.deepEqual(
        loaded.slice(4).filter((keys) => keys > 0),
        [],
      );
    });

    test('a key ring that loads during concurrent changes of keys misses no change', async (t) => {
      const { projects, clock, openRing } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['files'] as const, expiresAt: null };
      const ring = await openRing();
      const work = Array.from({ length: 40 }, async (_, n) => {
        const created = await projects.createKey({ ...request, expiresAt: n % 4 === 3 ? clock.time + 1000 : null });
        if (n % 2 === 0) await projects.revokeKey(created.stored.id);
        await ring.refresh();
        return { n, header: `Bearer ${created.key.reveal()}` };
      });
      const keys = await Promise.all(work);
      clock.time += 2000;
      for (const { n, header } of keys) {
        const usable = n % 2 !== 0 && n % 4 !== 3;
        const isKnown = await ring.authenticate(header).then(
          () => true,
          () => false,
        );
        assert.equal(isKnown, usable, `key ${n}`);
      }
    });

    test('a page of keys reads only its rows and one more', async (t) => {
      const { projects, database, clock, deps } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['files'] as const, expiresAt: null };
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) {
        clock.time += 1000;
        ids.push((await projects.createKey(request)).stored.id);
      }
      let rows = 0;
      const read = database.read.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          rows += result.rows.length;
          return result;
        },
      });
      const counted = createProjects({ ...deps, repository: createProjectRepository({ ...database, read }) });
      const page = async (query: ListQuery) => {
        const { items, hasMore } = await counted.pageOfKeys(project.id, query);
        return [items.map(({ id }) => ids.indexOf(id)), hasMore];
      };
      const [second, fourth] = [ids[1] ?? '', ids[3] ?? ''];
      assert.deepEqual(await page({ limit: 1 }), [[4], true]);
      assert.equal(rows, 3, 'the project, the key and one more');
      assert.deepEqual(await page({ limit: 5 }), [[4, 3, 2, 1, 0], false]);
      assert.deepEqual(await page({ limit: 2, order: 'asc', after: second }), [[2, 3], true]);
      assert.deepEqual(await page({ limit: 2, order: 'asc', before: fourth }), [[1, 2], true]);
      await assert.rejects(page({ after: 'unknown' }), { code: 'REQUEST_VALIDATION_ERROR' });
      const stranger = await projects.createProject('two');
      await assert.rejects(counted.findKey(stranger.id, second), { code: 'OBJECT_NOT_FOUND' });
    });

    test('a key that is revoked while it is rotated gets no successor', async (t) => {
      const { projects, repository, deps } = await open(t);
      const project = await projects.createProject('one');
      const request = { projectId: project.id, name: 'n', scopes: ['files'] as const, expiresAt: null };
      const old = await projects.createKey(request);
      // Runs after the key is read and before its successor is written.
      const findKey: typeof repository.findKey = async (keyId) => {
        const found = await repository.findKey(keyId);
        await repository.revokeKey(keyId, deps.clock.now(), false);
        return found;
      };
      const late = createProjects({ ...deps, repository: { ...repository, findKey } });
      await assert.rejects(late.rotateKey(old.stored.id, 60_000), { code: 'OBJECT_NOT_FOUND' });
      assert.equal((await projects.listKeys(project.id)).length, 1);
    });

    test('a new key is accepted immediately, however recently the key ring was loaded', async (t) => {
      const { projects, openRing } = await open(t);
      const project = await projects.createProject('one');
      const ring = await openRing();
      for (let i = 0; i < 5; i++) {
        const request = { projectId: project.id, name: `n${i}`, scopes: ['files'] as const, expiresAt: null };
        const created = await projects.createKey(request);
        const caller = await ring.authenticate(`Bearer ${created.key.reveal()}`);
        assert.equal(caller.keyId, created.stored.id);
      }
    });

    test('the time of the last use is stored', async (t) => {
      const { projects, clock, repository, openRing } = await open(t);
      const project = await projects.createProject('one');
      const created = await projects.createKey({
        projectId: project.id,
        name: 'n',
        scopes: ['files'],
        expiresAt: null,
      });
      const ring = await openRing();
      await ring.authenticate(`Bearer ${created.key.reveal()}`);
      await ring.close();
      assert.equal((await repository.findKey(created.stored.id))?.lastUsedAt, clock.time);
    });
  });
}
