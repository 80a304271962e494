import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { setUp } from '../support/administrator.ts';
import { findFreePorts } from '../support/free-port.ts';
import { openProbe } from '../support/probe-bundle.ts';
import { type ProxyName, startProxy } from '../support/reverse-proxy.ts';
import { type Ending, startService } from '../support/service.ts';

const immediate = 'no-store, no-transform';
const run = { bundle_id: 'probe', plugin_id: 'read', input_params: { q: 'a' }, credentials: {} };

/** Starts the service behind a proxy. The proxy and its clients are on this machine. */
async function startBehind(t: Ending, name: ProxyName) {
  const [ports, upstream] = [await findFreePorts(), await findFreePorts()];
  const filesUrl = `http://127.0.0.1:${ports.files}`;
  const pluginsUrl = `http://127.0.0.1:${ports.plugins}`;
  const probe = await openProbe(t);
  const service = await startService(t, {
    settings: {
      ...probe.settings,
      FILES_PORT: String(upstream.files),
      PLUGINS_PORT: String(upstream.plugins),
      PUBLIC_FILES_URL: filesUrl,
      PUBLIC_PLUGINS_URL: pluginsUrl,
      TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  await startProxy(t, name, ports, upstream);
  const headers = { Authorization: `Bearer ${service.key}` };
  return { service, probe, filesUrl, pluginsUrl, headers };
}

for (const name of ['nginx', 'caddy'] as const) {
  describe(`behind the sample configuration of ${name}`, () => {
    const endings: Array<() => unknown> = [];
    let started: Awaited<ReturnType<typeof startBehind>>;
    before(async () => {
      started = await startBehind({ after: (end) => void endings.unshift(end) }, name);
    });
    after(async () => {
      for (const end of endings) await end();
    });

    test('[proxy] events of a run arrive while it is in progress', async (t) => {
      const { service, probe, pluginsUrl, headers } = started;
      probe.hold('/read?q=a');
      const accepted = await fetch(`${pluginsUrl}/v1/execute`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json', Prefer: 'respond-async' },
        body: JSON.stringify(run),
      });
      const { data } = (await accepted.json()) as { data: { run_id: string } };
      await probe.arrived('/read?q=a');
      const path = `/v1/runs/${data.run_id}/events`;
      const direct = await fetch(service.pluginsUrl + path, { headers });
      assert.equal(direct.headers.get('x-accel-buffering'), 'no');
      assert.equal(direct.headers.get('cache-control'), immediate);
      const stream = await fetch(pluginsUrl + path, { headers, signal: t.signal });
      assert.equal(stream.headers.get('cache-control'), immediate);
      const chunks = stream.body?.getReader() ?? assert.fail('no body');
      // The run cannot end before the third party is released.
      const first = await chunks.read();
      assert.match(Buffer.from(first.value ?? []).toString(), /^(?:id|event|data): /m);
      probe.release();
      await Promise.all([chunks.cancel(), direct.body?.cancel()]);
    });

    test('[proxy] progress of a tool arrives over MCP while the tool runs', async () => {
      const { service, pluginsUrl, headers } = started;
      const answers: Headers[] = [];
      const watched: typeof fetch = async (...args) => {
        const answer = await fetch(...args);
        answers.push(answer.headers);
        return answer;
      };
      const progressOf = async (url: string) => {
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(
          new StreamableHTTPClientTransport(new URL(`${url}/mcp/probe`), { requestInit: { headers }, fetch: watched }),
        );
        const leaving = new AbortController();
        const { promise, resolve } = Promise.withResolvers<unknown>();
        const call = client.callTool(
          { name: 'think', arguments: { q: 'forever' } },
          { signal: leaving.signal, onprogress: resolve },
        );
        // The handler ends only when the client leaves.
        const progressed = await promise;
        leaving.abort();
        await client.close();
        await assert.rejects(call);
        return progressed;
      };
      const expected = { progress: 0.5, total: 1, message: 'thinking of forever' };
      assert.deepEqual(await progressOf(pluginsUrl), expected);
      assert.equal(streamsOf(answers).at(-1)?.get('cache-control'), immediate);
      assert.deepEqual(await progressOf(service.pluginsUrl), expected);
      assert.equal(streamsOf(answers).at(-1)?.get('x-accel-buffering'), 'no');
    });

    test('[proxy] an upload of 3 MB succeeds, and the console accepts the public address', async () => {
      const { service, filesUrl, headers } = started;
      const form = new FormData();
      form.set('purpose', 'record_file');
      form.set('file', new Blob([Buffer.alloc(3_000_000, 'text ')]), 'large.txt');
      const answer = await fetch(`${filesUrl}/v1/files`, { method: 'POST', headers, body: form });
      assert.equal(answer.status, 200, await answer.text());
      const admin = await setUp({ ...service, filesUrl });
      assert.equal((await admin.ask('GET', '/v1/files')).status, 200);
    });

    test('[proxy] the log names the address that the proxy sees, not one that the client claims', async () => {
      const { service, filesUrl, headers } = started;
      const request = get(`${filesUrl}/v1/limits`, {
        localAddress: '127.0.0.2',
        headers: {
          ...headers,
          'X-Request-Id': 'forged',
          'X-Forwarded-For': '203.0.113.9',
          Forwarded: 'for=203.0.113.9',
        },
      });
      const [response] = await once(request, 'response');
      response.resume();
      assert.equal(response.statusCode, 200);
      assert.equal(await service.stop(), 0);
      const line = service.log().match(/^\{.*"request_id":"forged".*"msg":"request completed".*$/m)?.[0] ?? '{}';
      assert.equal(JSON.parse(line).client, '127.0.0.2');
    });
  });
}

function streamsOf(answers: readonly Headers[]): readonly Headers[] {
  return answers.filter((headers) => headers.get('content-type')?.startsWith('text/event-stream'));
}
