import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { setUp } from '../support/administrator.ts';
import { send, serve } from '../support/http.ts';
import { info } from '../support/mcp-clients.ts';
import { addDocument, askMcp } from '../support/mcp-knowledge.ts';
import { openBrowser, redirectUri } from '../support/oauth.ts';
import { type Ending, share, startService } from '../support/service.ts';

/** A service, its administrator, a host with a metadata document, and two collections. */
const opened = share(async (t) => {
  const documents = new Map<string, object>();
  const origin = await serve(t, (request, response) => {
    const document = documents.get(request.url ?? '');
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document));
  });
  const settings = { EGRESS_OVERRIDES: JSON.stringify({ 'https://app.example': origin }) };
  const service = await startService(t, { settings });
  const person = await setUp(service);
  const [red, blue] = [
    await addDocument(service, { name: 'red', title: 'Red', content: 'The otters of the red book paint at noon.' }),
    await addDocument(service, { name: 'blue', title: 'Blue', content: 'The otters of the blue book sleep at noon.' }),
  ];
  return { service, person, documents, browser: openBrowser(service.filesUrl, person), red, blue };
});

/** The official client with what an application stores. */
function createProvider(metadataUrl?: string) {
  const kept: {
    client?: unknown;
    tokens?: { access_token: string; refresh_token?: string };
    verifier?: string;
    url?: URL;
    discovery?: unknown;
  } = {};
  const provider = {
    redirectUrl: redirectUri,
    ...(metadataUrl === undefined ? {} : { clientMetadataUrl: metadataUrl }),
    clientMetadata: { client_name: 'Otter agent', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: object) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (url: URL) => void Object.assign(kept, { url }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier ?? '',
    saveDiscoveryState: (discovery: object) => void Object.assign(kept, { discovery }),
    discoveryState: () => kept.discovery,
  } as unknown as OAuthClientProvider; // the types of what is stored are those of the library
  return { kept, provider };
}

/** Connects as an application does that knows nothing but the URL. */
async function connect(t: Ending, url: string, metadataUrl?: string) {
  const { browser } = await opened();
  const { kept, provider } = createProvider(metadataUrl);
  const first = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  await assert.rejects(new Client(info).connect(first), UnauthorizedError);
  return {
    kept,
    async finish(choice = {}) {
      const callback = await browser.allow(kept.url ?? '', choice);
      await first.finishAuth(callback.searchParams);
      const client = new Client(info);
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }));
      t.after(() => client.close());
      return client;
    },
  };
}

test('[oauth] the official client signs in from the URL alone, with a metadata document and with a registration', async (t) => {
  const { service, documents, red } = await opened();
  const metadataUrl = 'https://app.example/client.json';
  documents.set('/client.json', { client_id: metadataUrl, client_name: 'Otter agent', redirect_uris: [redirectUri] });
  for (const document of [metadataUrl, undefined]) {
    const { finish, kept } = await connect(t, `${service.filesUrl}/mcp`, document);
    const client = await finish();
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes('search') && names.includes('call_tool'), names.join());
    const found = await client.callTool({ name: 'search', arguments: { query: 'otters' } });
    assert.match(JSON.stringify(found.structuredContent), new RegExp(red.collectionId));
    assert.match(kept.tokens?.access_token ?? '', /^qmt_[\w-]{43}$/);
    assert.match(kept.tokens?.refresh_token ?? '', /^qmr_[\w-]{43}$/);
  }
  const listed = await send(`${service.filesUrl}/v1/applications`, { key: service.key });
  assert.deepEqual(
    listed.body.data.map(({ host, name }: { host: string; name: string }) => [host, name]),
    [
      [null, 'Otter agent'],
      ['app.example', 'Otter agent'],
    ],
  );
});

test('[oauth] an application sees what the person left, and nothing after it is signed out', async (t) => {
  const { service, person, red, blue } = await opened();
  const { finish, kept } = await connect(t, `${service.filesUrl}/mcp`);
  const client = await finish({ collections: [red.collectionId], tools: ['calculator'] });
  const call = (name: string, input: object) => client.callTool({ name, arguments: { ...input } });
  const later = await addDocument(service, { name: 'later', title: 'Later', content: 'The otters of the later book.' });
  const text = JSON.stringify(await call('search', { query: 'otters' }));
  for (const { collectionId } of [blue, later]) assert.ok(!text.includes(collectionId), text);
  assert.ok(text.includes(red.collectionId), text);
  const chunk = `quartermaster://collections/${blue.collectionId}/records/${blue.recordId}`;
  assert.equal((await call('fetch', { id: chunk })).isError, true, 'another collection does not exist');
  const sum = await call('calculator__evaluate', { expression: '1+1' });
  assert.notEqual(sum.isError, true, JSON.stringify(sum));
  await assert.rejects(call('time__list_timezones', {}), /Unknown tool/);
  assert.equal((await send(`${service.filesUrl}/v1/collections`, { key: kept.tokens?.access_token })).status, 401);
  const token = kept.tokens?.access_token ?? '';
  const { data } = (await (await person.ask('GET', '/v1/applications')).json()) as {
    data: Array<{ application_id: string }>;
  };
  const revoked = await person.ask('DELETE', `/v1/applications/${data[0]?.application_id}`);
  assert.equal(revoked.status, 200);
  const deadline = Date.now() + 1000;
  for (const url of [service.filesUrl, service.pluginsUrl]) {
    while ((await askMcp(`${url}/mcp`, token, 'tools/list')).status !== 401) {
      assert.ok(Date.now() < deadline, 'the token is refused within a second');
    }
  }
});
