import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { setUp } from '../support/administrator.ts';
import { listOperations } from '../support/documented-operations.ts';
import { send, serve } from '../support/http.ts';
import { info } from '../support/mcp-clients.ts';
import { addDocument, askMcp } from '../support/mcp-knowledge.ts';
import { openBrowser, redirectUri, signInApplication } from '../support/oauth.ts';
import { type Ending, share, startService } from '../support/service.ts';

/** A service, its administrator, a host with a metadata document, and two collections. */
const opened = share(async (t) => {
  const documents = new Map<string, object>();
  const origin = await serve(t, (request, response) => {
    const document = documents.get(request.url ?? '');
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document));
  });
  const settings = { PLUGINS_KEY: 'required', EGRESS_OVERRIDES: JSON.stringify({ 'https://app.example': origin }) };
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

test('[oauth] a token of a server gets the same 401 on every other path of both addresses', async () => {
  const { service, person, red } = await opened();
  const { filesUrl, pluginsUrl } = service;
  const narrow = `${filesUrl}/mcp/collections/${red.collectionId}`;
  const [one, all] = [
    await signInApplication(service, { person, resource: narrow }),
    await signInApplication(service, { person }),
  ];
  const messages = new Set<string>();
  const refuse = async (url: string, key: string, method: string) => {
    const { status, code, message, body } = await send(url, { key, method });
    // The dialects have errors of their own.
    const isDialect = /\/(?:dify|openwebui)\//.test(url);
    const expected = [isDialect ? status : 401, 'APIKEY_VALIDATION_FAILED'];
    assert.deepEqual([status, isDialect ? body.code : code], expected, `${method} ${url}`);
    if (!isDialect) messages.add(message);
  };
  let paths = 0;
  for (const address of ['files', 'plugins'] as const) {
    const base = address === 'files' ? filesUrl : pluginsUrl;
    for (const { method, path, isPublic, takesKeys } of await listOperations(address, base)) {
      // A signature in the URL gives the content of an artifact, with or without a key.
      if (isPublic || !takesKeys || path.endsWith('/content')) continue;
      await refuse(base + path.replace(/\{[^}]+\}/g, 'x'), all.accessToken, method);
      paths += 1;
    }
  }
  assert.ok(paths >= 60, `${paths} paths`);
  const ofOthers = ['/mcp', '/mcp/calculator', `/mcp/collections/${red.collectionId}x`];
  for (const path of ofOthers) await refuse(filesUrl + path, one.accessToken, 'POST');
  for (const path of ['/mcp', '/mcp/calculator', `/mcp/collections/${red.collectionId}`]) {
    for (const token of [one.accessToken, all.accessToken]) await refuse(pluginsUrl + path, token, 'POST');
  }
  for (const token of [all.refreshToken, all.code]) await refuse(`${filesUrl}/mcp`, token, 'POST');
  assert.equal(messages.size, 1, 'nothing tells why');
  assert.equal((await askMcp(narrow, one.accessToken, 'tools/list')).status, 200);
  assert.equal((await askMcp(narrow, all.accessToken, 'tools/list')).status, 200);
});

test('[oauth] a token for one bundle and one collection reaches nothing else, and one for all sees later collections', async () => {
  const { service, person, red, blue } = await opened();
  const { filesUrl, key } = service;
  const choice = { collections: [red.collectionId], tools: ['calculator'] };
  const [limited, whole] = [
    (await signInApplication(service, { person, choice })).accessToken,
    (await signInApplication(service, { person })).accessToken,
  ];
  const later = await addDocument(service, { name: 'new', title: 'New', content: 'The otters of the new book.' });
  const ask = (token: string, method: string, params: object, path = '/mcp') =>
    askMcp(filesUrl + path, token, method, params);
  const call = (token: string, name: string, input: object, path?: string) =>
    ask(token, 'tools/call', { name, arguments: input }, path);
  const recordOf = ({ collectionId, recordId }: typeof red) =>
    `quartermaster://collections/${collectionId}/records/${recordId}`;
  const chunksOf = await send(`${filesUrl}/v1/collections/${blue.collectionId}/chunks`, { key });
  const chunk = `quartermaster://collections/${blue.collectionId}/chunks/${chunksOf.body.data[0].chunk_id}`;

  for (const name of ['call_tool', 'call_read_tool']) {
    const input = (tool: string) => ({ name: tool, arguments: tool.startsWith('time') ? {} : { expression: '1+1' } });
    const own = await call(limited, name, input('calculator__evaluate'));
    assert.match(JSON.stringify(own.body), /\b2\b/, name);
    const refused = JSON.stringify((await call(limited, name, input('time__list_timezones'))).body);
    const unknown = JSON.stringify((await call(limited, name, input('nothing__list_timezones'))).body);
    assert.match(refused, /"(?:isError":true|error":\{)/, refused);
    assert.equal(refused.replaceAll('time__', 'nothing__'), unknown, 'it looks as if it did not exist');
    assert.doesNotMatch(JSON.stringify((await call(whole, name, input('time__list_timezones'))).body), /Unknown|error/);
  }
  const listed = JSON.stringify((await ask(limited, 'tools/list', {}, '/mcp?tools=all')).body);
  assert.match(listed, /calculator__evaluate/);
  assert.doesNotMatch(listed, /time__|"time"/);
  const found = await call(limited, 'search_tools', { query: 'list the time zones' });
  assert.doesNotMatch(JSON.stringify(found.body), /time__/);
  assert.equal((await ask(limited, 'tools/list', {}, '/mcp/time')).status, 404);
  assert.equal((await ask(limited, 'tools/list', {}, `/mcp/collections/${blue.collectionId}`)).status, 404);
  for (const uri of [recordOf(blue), recordOf(later), chunk]) {
    const read = JSON.stringify([
      (await ask(limited, 'resources/read', { uri })).body,
      (await call(limited, 'fetch', { id: uri })).body,
    ]);
    assert.doesNotMatch(read, /book/, uri);
  }
  const seen = async (token: string) =>
    JSON.stringify([
      (await call(token, 'list_collections', {})).body,
      (await call(token, 'search', { query: 'otters' })).body,
      (await ask(token, 'resources/list', {})).body,
    ]);
  const [little, everything] = [await seen(limited), await seen(whole)];
  for (const { collectionId } of [blue, later]) {
    assert.ok(!little.includes(collectionId), little);
    assert.ok(everything.includes(collectionId), 'a consent for all collections includes later ones');
  }
  assert.ok(little.includes(red.collectionId));
  // A run of the other bundle, its events and its artifact have addresses of the API, where no token is valid.
  const qr = { bundle_id: 'qr_code_generator', plugin_id: 'generate_qr_code', credentials: {} };
  const drawn = await send(`${service.pluginsUrl}/v1/execute`, {
    key,
    json: { ...qr, input_params: { text: 'x', scale: 20 } },
  });
  const { run_id: run, artifacts } = drawn.body.data;
  for (const path of [`runs/${run}`, `runs/${run}/events`, `artifacts/${artifacts[0].artifact_id}`, 'execute']) {
    for (const base of [service.pluginsUrl, `${filesUrl}/plugins`]) {
      const method = path === 'execute' ? 'POST' : 'GET';
      assert.equal((await send(`${base}/v1/${path}`, { key: limited, method })).status, 401, path);
    }
  }
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
  const limits = `/v1/projects/${person.projectId}/rate_limits`;
  const limit = { subject_id: data[0]?.application_id, tool: 'calculator', per_day: 1 };
  const created = await person.ask('POST', limits, { body: limit });
  assert.equal(created.status, 200);
  assert.notEqual((await call('calculator__evaluate', { expression: '1+1' })).isError, true);
  const limited = JSON.stringify(await call('calculator__evaluate', { expression: '1+1' }));
  assert.match(limited, /The rate limit of 1 run of calculator per day is reached\. Retry in \d+ seconds\./);
  const revoked = await person.ask('DELETE', `/v1/applications/${data[0]?.application_id}`);
  assert.equal(revoked.status, 200);
  const deadline = Date.now() + 1000;
  for (const url of [service.filesUrl, service.pluginsUrl]) {
    while ((await askMcp(`${url}/mcp`, token, 'tools/list')).status !== 401) {
      assert.ok(Date.now() < deadline, 'the token is refused within a second');
    }
  }
});
