import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { beginSession, type SignedIn, setUp } from '../support/administrator.ts';
import { type Sent, send } from '../support/http.ts';
import { databaseFor } from '../support/postgres.ts';
import { startService } from '../support/service.ts';

/** A list whose objects a client can delete. */
interface DeletableList {
  readonly name: string;
  readonly path: string;
  readonly address: 'files' | 'plugins';
  readonly idMember: string;
  /** Creates one object. */
  create(nth: number): Promise<unknown>;
  /** The path that deletes an item. */
  deletePath(item: Readonly<Record<string, string>>): string;
}

type Call = (method: string, url: string, body?: unknown) => Promise<Sent>;

async function open(t: TestContext, settings: Readonly<Record<string, string>>) {
  const service = await startService(t, { settings });
  const { key } = service;
  const call: Call = (method, url, body) =>
    send(url, { method, key, ...(body instanceof FormData ? { body } : { json: body }) });
  return { service, call };
}

function uploadOf(nth: number): FormData {
  const form = new FormData();
  form.append('purpose', 'record_file');
  form.append('file', new Blob([`text ${nth}`]), `${nth}.txt`);
  return form;
}

async function listsOf({ service, call }: Awaited<ReturnType<typeof open>>, { projectId }: SignedIn) {
  const { filesUrl, pluginsUrl } = service;
  const created = async (path: string, body: unknown, address = filesUrl) => {
    const answer = await call('POST', `${address}${path}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.data as Record<string, string>;
  };
  const newCollection = () => created('/v1/collections', { name: 'c', type: 'text' });
  const collection = `/v1/collections/${(await newCollection()).collection_id}`;
  const lists: readonly DeletableList[] = [
    {
      ...{ name: 'files', path: '/v1/files', address: 'files', idMember: 'file_id' },
      create: (nth) => created('/v1/files', uploadOf(nth)),
      deletePath: ({ file_id }) => `/v1/files/${file_id}`,
    },
    {
      ...{ name: 'records', path: `${collection}/records`, address: 'files', idMember: 'record_id' },
      create: (nth) => created(`${collection}/records`, { type: 'text', content: `text ${nth}` }),
      deletePath: ({ record_id }) => `${collection}/records/${record_id}`,
    },
    {
      ...{ name: 'chunks', path: `${collection}/chunks`, address: 'files', idMember: 'chunk_id' },
      create: (nth) => created(`${collection}/chunks`, { content: `text ${nth}` }),
      deletePath: ({ chunk_id }) => `${collection}/chunks/${chunk_id}`,
    },
    {
      ...{ name: 'collections', path: '/v1/collections', address: 'files', idMember: 'collection_id' },
      create: newCollection,
      deletePath: ({ collection_id }) => `/v1/collections/${collection_id}`,
    },
    {
      ...{ name: 'keys', path: `/v1/projects/${projectId}/keys`, address: 'files', idMember: 'key_id' },
      create: (nth) => created(`/v1/projects/${projectId}/keys`, { name: `k${nth}`, scopes: ['files'] }),
      deletePath: ({ key_id }) => `/v1/projects/${projectId}/keys/${key_id}`,
    },
    {
      ...{
        name: 'credential profiles',
        path: '/v1/credential_profiles',
        address: 'plugins',
        idMember: 'credential_profile_id',
      },
      create: (nth) =>
        created(
          '/v1/credential_profiles',
          { bundle_id: 'weather_bit', name: `p${nth}`, credentials: { WEATHER_BIT_API_KEY: 'k' } },
          pluginsUrl,
        ),
      deletePath: ({ name }) => `/v1/credential_profiles/${name}`,
    },
  ];
  return lists;
}

/** Reads a list page by page and deletes what it has read. Returns the ids in the order in which they were read. */
async function readAndDelete(call: Call, base: string, list: DeletableList, keep: (id: string) => boolean) {
  const ids: string[] = [];
  for (let hasMore = true, after = ''; hasMore; after = `&after=${ids.at(-1)}`) {
    const page = await call('GET', `${base}${list.path}?limit=10${after}`);
    assert.equal(page.status, 200, `${list.name}: ${JSON.stringify(page.body)}`);
    for (const item of page.body.data) {
      const id = item[list.idMember] ?? '';
      ids.push(id);
      if (keep(id)) continue;
      const removed = await call('DELETE', `${base}${list.deletePath(item)}`);
      assert.equal(removed.status, 200, `${list.name}: ${JSON.stringify(removed.body)}`);
    }
    hasMore = page.body.has_more;
  }
  return ids;
}

const databases = {
  SQLite: async () => ({}),
  PostgreSQL: async (t: TestContext) => {
    const url = await databaseFor(t);
    return { DATABASE_URL: url, SEALING_KEY: randomBytes(32).toString('base64') };
  },
};

for (const [database, settingsOf] of Object.entries(databases)) {
  test(`a client that deletes what it has read continues after the last deleted object (${database})`, async (t) => {
    const opened = await open(t, await settingsOf(t));
    const { service, call } = opened;
    const account = await setUp(service);
    for (const list of await listsOf(opened, account)) {
      const base = list.address === 'files' ? service.filesUrl : service.pluginsUrl;
      for (let nth = 0; nth < 25; nth++) await list.create(nth);
      const before = await call('GET', `${base}${list.path}?limit=100`);
      const listed = before.body.data.map((item: Record<string, string>) => item[list.idMember] ?? '');
      assert.ok(listed.length >= 25, list.name);
      const first = listed.at(-1) ?? ''; // the key of this client, and the collection of the other lists
      const read = await readAndDelete(call, base, list, (id) => id === first);
      assert.deepEqual(read, listed, list.name);

      const [third = ''] = listed.slice(2);
      const backwards = await call('GET', `${base}${list.path}?limit=10&before=${third}`);
      assert.equal(backwards.status, 200, list.name);
      for (const wrong of ['nothing', `zzzz${third.slice(4)}`, third.slice(0, -1), '%00']) {
        const { status, body } = await call('GET', `${base}${list.path}?after=${wrong}`);
        assert.deepEqual([status, body.error?.code], [422, 'REQUEST_VALIDATION_ERROR'], `${list.name} ${wrong}`);
        assert.match(body.error?.message ?? '', /^query\/after must be an id of 24 characters that starts with /);
      }
    }
  });
}

test('a list of sessions continues after a session that has ended', async (t) => {
  const { service } = await open(t, {});
  const { ask } = await setUp(service);
  for (let nth = 0; nth < 3; nth++) await beginSession(service);
  const idsOf = async (query: string) => {
    const answer = await ask('GET', `/v1/sessions?${query}`);
    const { data } = (await answer.json()) as { data?: ReadonlyArray<{ session_id: string }> };
    return data?.map(({ session_id }) => session_id) ?? answer.status;
  };
  const listed = await idsOf('');
  assert.ok(Array.isArray(listed));
  const [newest, second] = listed;
  assert.equal((await ask('DELETE', `/v1/sessions/${second}`)).status, 200);
  assert.deepEqual(await idsOf(`after=${second}`), listed.slice(2));
  assert.deepEqual(await idsOf(`before=${second}`), [newest]);
  assert.equal(await idsOf('after=second'), 422);
  assert.equal((await ask('GET', `/v1/projects?after=proj${'0'.repeat(20)}`)).status, 200);
});
