import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { consoleTokenHeader, type NewApiKey, projectHeader } from '@quartermaster/contract';
import { beginSession, type SignedIn, setUp } from '../support/administrator.ts';
import { findApplication, signInApplication } from '../support/oauth.ts';
import { databaseFor } from '../support/postgres.ts';
import { openProbe } from '../support/probe-bundle.ts';
import { runCommand } from '../support/run-command.ts';
import { startService } from '../support/service.ts';

/** An open event stream. */
interface OpenStream {
  /** Resolves when the service has ended the stream. */
  readonly ended: Promise<void>;
  isOpen(): boolean;
}

async function openStream(url: string, init: RequestInit, hasFirst = true): Promise<OpenStream> {
  const answer = await fetch(url, init);
  assert.equal(answer.status, 200, url);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined);
  if (hasFirst) assert.equal((await reader.read()).done, false);
  let isOpen = true;
  const ended = (async () => {
    while (!(await reader.read().catch(() => ({ done: true }))).done);
    isOpen = false;
  })();
  return { ended, isOpen: () => isOpen };
}

async function start(t: TestContext, database: string | undefined) {
  const probe = await openProbe(t);
  for (const path of ['/read?q=a', '/page']) probe.hold(path);
  const settings = { ...probe.settings, PLUGINS_KEY: 'required', ...(database ? { DATABASE_URL: database } : {}) };
  const service = await startService(t, { settings });
  const admin = await setUp(service);
  const keys = `/v1/projects/${admin.projectId}/keys`;
  const createKey = async (more: object = {}) => {
    const answer = await admin.ask('POST', keys, { body: { name: 'streams', ...more } });
    return ((await answer.json()) as { data: NewApiKey }).data;
  };
  const run = { bundle_id: 'probe', plugin_id: 'read', input_params: { q: 'a' }, credentials: {} };
  const accepted = await fetch(`${service.pluginsUrl}/v1/execute`, {
    method: 'POST',
    headers: {
      ...{ Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      Prefer: 'respond-async',
    },
    body: JSON.stringify(run),
  });
  const { data } = (await accepted.json()) as { data: { run_id: string } };
  const runEvents = `/v1/runs/${data.run_id}/events`;
  const headersOf = (key: Pick<NewApiKey, 'key'>) => ({ Authorization: `Bearer ${key.key}` });
  const followRun = (key: NewApiKey) => openStream(service.pluginsUrl + runEvents, { headers: headersOf(key) });
  const followBySession = (signedIn: SignedIn) =>
    openStream(`${service.filesUrl}/plugins${runEvents}`, {
      headers: {
        ...{ cookie: signedIn.cookie, [consoleTokenHeader]: signedIn.consoleToken },
        [projectHeader]: signedIn.projectId,
      },
    });
  t.after(() => probe.release());
  return { service, admin, keys, createKey, followRun, followBySession, headersOf };
}

describe('event streams and the end of their key or session', () => {
  test('[streams] streams of runs, records and MCP end with their key, those of an application when it is signed out, others stay open', async (t) => {
    const { service, admin, keys, createKey, followRun, headersOf } = await start(t, undefined);
    const [staying, revoked] = [await createKey(), await createKey()];
    const json = { 'Content-Type': 'application/json' };
    const post = async (path: string, body: object) => {
      const headers = { ...headersOf(staying), ...json };
      const answer = await fetch(service.filesUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return ((await answer.json()) as { data: Record<string, string> }).data;
    };
    const callTool = (key: Pick<NewApiKey, 'key'>, url = service.pluginsUrl) =>
      openStream(
        `${url}/mcp/probe`,
        {
          method: 'POST',
          headers: { ...headersOf(key), ...json, Accept: 'application/json, text/event-stream' },
          body: JSON.stringify({
            ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
            params: { name: 'read', arguments: { q: 'a' }, _meta: { progressToken: 1 } },
          }),
        },
        false,
      );
    const { collection_id } = await post('/v1/collections', { name: 'c', type: 'text' });
    const application = await signInApplication(service, { person: admin });
    const late = await followRun(await createKey({ expires_timestamp: Date.now() + 15_000 }));
    // A call without progress answers with its first heartbeat, after 15 s.
    const [ofStaying, ofRevoked, ofApplication] = await Promise.all([
      callTool(staying),
      callTool(revoked),
      callTool({ key: application.accessToken }, service.filesUrl),
    ]);
    const others = [await followRun(staying), ofStaying];
    const streams = [await followRun(revoked), ofRevoked];
    // The fetch of the page times out after 30 s. Then the record and the streams about it end.
    const { record_id } = await post(`/v1/collections/${collection_id}/records`, {
      ...{ type: 'web', title: 'slow', url: 'https://api.example.com/page' },
    });
    const recordEvents = `${service.filesUrl}/v1/collections/${collection_id}/records/${record_id}/events`;
    others.push(await openStream(recordEvents, { headers: headersOf(staying) }));
    streams.push(await openStream(recordEvents, { headers: headersOf(revoked) }));
    assert.equal((await admin.ask('DELETE', `${keys}/${revoked.key_id}`)).status, 200);
    for (const stream of streams) await stream.ended;
    assert.deepEqual(
      others.map((stream) => stream.isOpen()),
      [true, true, true],
    );
    assert.ok(ofApplication.isOpen());
    const id = await findApplication(service, application.clientId);
    assert.equal((await admin.ask('DELETE', `/v1/applications/${id}`)).status, 200);
    await ofApplication.ended;
    assert.ok(others[1]?.isOpen());
    await late.ended;
    assert.ok(others[0]?.isOpen());
  });

  test('[streams] on PostgreSQL streams end with a key that another process revokes, and with their session', async (t) => {
    const database = { url: await databaseFor(t) };
    const { service, admin, createKey, followRun, followBySession } = await start(t, database.url);
    const [staying, revoked] = [await createKey(), await createKey()];
    const [other, stream, ofSession] = [
      await followRun(staying),
      await followRun(revoked),
      await followBySession(admin),
    ];
    const store = { folder: service.folder, settings: { DATABASE_URL: database.url } };
    const { code } = await runCommand(store, 'key', 'revoke', revoked.key_id);
    assert.equal(code, 0);
    await stream.ended;
    assert.ok(ofSession.isOpen());
    await admin.ask('DELETE', '/v1/session');
    await ofSession.ended;
    assert.ok(other.isOpen());
  });

  test('[streams] streams end with their session, also when it is ended by its id or because there are too many', async (t) => {
    const { service, admin, followBySession } = await start(t, undefined);
    const begin = async () => {
      const { data, headers } = await beginSession(service);
      return { ...admin, cookie: headers.cookie, consoleToken: data.console_token, sessionId: data.session_id };
    };
    const [staying, leaving] = [await begin(), await begin()];
    const ofLeaving = await followBySession(leaving);
    const ofOldest = await followBySession(admin);
    assert.equal((await admin.ask('DELETE', `/v1/sessions/${leaving.sessionId}`)).status, 200);
    await ofLeaving.ended;
    assert.ok(ofOldest.isOpen());
    const ofStaying = await followBySession(staying);
    for (let count = 2; count < 20; count += 1) await begin();
    assert.ok(ofOldest.isOpen());
    await begin();
    await ofOldest.ended;
    assert.ok(ofStaying.isOpen());
  });
});
