import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../packages/server/src/platform/testing/until.ts';
import { setUp } from '../support/administrator.ts';
import { settledRecord } from '../support/client.ts';
import { startEmbeddingService } from '../support/embedding-service.ts';
import { type StartedService, startService } from '../support/service.ts';

const place = (prefix: string, character: string) => prefix + character.repeat(20);

/** Two cursors of each list that name nothing: one sorts before every item, the other behind all of them. */
const cursors: Readonly<Record<string, readonly [string, string]>> = {
  ...Object.fromEntries(
    Object.entries({
      ...{ listFiles: 'file', listCollections: 'coll', listRecords: 'rcrd', listRecordRows: 'rrow' },
      ...{
        listChunks: 'chnk',
        listChunksOfRecord: 'chnk',
        listSessions: 'sess',
        listProjects: 'proj',
        listProjectDeletions: 'proj',
        listKeys: 'apik',
        listApplications: 'gran',
        listAuditEvents: 'audt',
        listRateLimits: 'rate',
        listAccounts: 'acct',
        listMembers: 'acct',
        listInstalledBundles: 'bndl',
      },
      ...{ listCredentialProfiles: 'prof', listConnections: 'conn', listRuns: 'xrun' },
    }).map(([name, prefix]) => [name, [place(prefix, '0'), place(prefix, 'z')]]),
  ),
  listBundles: ['a', 'zz'],
  listPlugins: ['a/a', 'zz/zz'],
};

/** Lists in another order than that of ids, in which only an item has a place. Source: docs/contract.md "Both addresses". */
const itemsOnly: Readonly<Record<string, string>> = { listEmbeddingFailures: place('chnk', '0') };

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      { readonly get?: { readonly operationId: string; readonly parameters?: ReadonlyArray<{ name: string }> } }
    >
  >;
}

async function listsOf(url: string) {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get?.parameters?.some(({ name }) => name === 'after') === true ? [{ path, name: get.operationId }] : [],
  );
}

/** Creates an item for the lists of a collection. Returns the ids in their paths. */
async function seed({ client }: StartedService, projectId: string): Promise<Readonly<Record<string, string>>> {
  const sheet = new Blob(['question,answer\nIs there parking?,Yes.\n']);
  const { file_id } = await client.files.upload(sheet, { purpose: 'qa_record_file', name: 'faq.csv' });
  const { collection_id } = await client.collections.create({ name: 'faq', type: 'qa' });
  const { record_id } = await client.records.create(collection_id, { type: 'qa_sheet', file_id });
  await settledRecord(client, collection_id, record_id);
  await until(async () => (await client.collections.get(collection_id)).vectors === 'current');
  return { collection_id, record_id, project_id: projectId };
}

test('[lists] each list continues after an id that names nothing, and refuses a text that is no id', async (t) => {
  const embedding = await startEmbeddingService(t, { embed: () => [1, 0] });
  const settings = { EMBEDDING_PROVIDER: 'openai', EMBEDDING_URL: embedding.url, EMBEDDING_KEY: 'none' };
  const service = await startService(t, { settings });
  const admin = await setUp(service);
  const ids = await seed(service, admin.projectId);
  const mounted = (await listsOf(service.pluginsUrl)).map(({ path, name }) => ({ path: `/plugins${path}`, name }));
  const lists = [...(await listsOf(service.filesUrl)), ...mounted];
  for (const { path, name } of lists) {
    const url = path.replace(/\{([^}]+)\}/g, (_, parameter: string) => ids[parameter] ?? '');
    const read = async (query: string) => {
      const answer = await admin.ask('GET', `${url}?${query}`);
      const body = (await answer.json()) as { data?: unknown[] };
      return { status: answer.status, count: body.data?.length };
    };
    for (const wrong of ['after=No', 'before=No', `after=${'X'.repeat(24)}`, 'before=9_0']) {
      const malformed = await read(wrong);
      assert.equal(malformed.status, 422, `${name} ${wrong}`);
    }
    const only = itemsOnly[name];
    if (only !== undefined) {
      assert.equal((await read(`after=${only}`)).status, 404, name);
      continue;
    }
    const [first, last] = cursors[name] ?? assert.fail(`${name} has no cursors in this test`);
    const all = (await read('limit=100')).count;
    const countOf = async (query: string) => (await read(`limit=100&order=asc&${query}`)).count;
    const found = [await countOf(`after=${first}`), await countOf(`before=${first}`), await countOf(`after=${last}`)];
    assert.deepEqual([...found, await countOf(`before=${last}`)], [all, 0, 0, all], name);
  }
  assert.equal(lists.length, Object.keys(cursors).length + Object.keys(itemsOnly).length);
});
