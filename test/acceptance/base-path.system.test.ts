import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Quartermaster } from '@quartermaster/client';
import { runCli } from '../../packages/cli/src/testing/run-cli.ts';
import { account, setUp } from '../support/administrator.ts';
import { type ServiceBelowAPath, startBelowAPath } from '../support/below-a-path.ts';
import { installPythonClient } from '../support/python-client.ts';
import { temporaryFolder } from '../support/service.ts';

const pngStart = '89504e470d0a1a0a';
const code = ['qr_code_generator/generate_qr_code', { text: 'quartermaster' }] as const;
const sum = { bundle_id: 'calculator', plugin_id: 'evaluate', input_params: { expression: '6 * 7' }, credentials: {} };

for (const name of ['nginx', 'caddy'] as const) {
  describe(`below a path of ${name}`, () => {
    const endings: Array<() => unknown> = [];
    let started: ServiceBelowAPath;
    before(async () => {
      started = await startBelowAPath({ after: (end) => void endings.unshift(end) }, name);
    });
    after(async () => {
      for (const end of endings) await end();
    });

    test('[base path] the TypeScript client uploads, searches, runs a plugin and opens the URL of its picture', async () => {
      const { service } = started;
      const { filesUrl: baseUrl, pluginsUrl, key: apiKey } = service;
      for (const qm of [new Quartermaster({ baseUrl, pluginsUrl, apiKey }), new Quartermaster({ baseUrl, apiKey })]) {
        const { collection_id } = await qm.collections.create({ name: 'handbook' });
        const { file_id } = await qm.files.upload(Buffer.from('The library opens at nine.'), { name: 'handbook.md' });
        await qm.records.create(collection_id, { type: 'file', file_id }).wait();
        const [best] = await qm.search(collection_id, { query_text: 'library opens' });
        assert.match(best?.content ?? '', /opens at nine/);
        const { artifacts = [] } = await qm.plugins.run(...code);
        const url = artifacts[0]?.file_url ?? '';
        assert.ok(url.startsWith(`${pluginsUrl}/v1/artifacts/`), url);
        const picture = await fetch(url);
        assert.equal(picture.headers.get('content-type'), 'image/png');
        assert.equal(Buffer.from(await picture.arrayBuffer()).toString('hex', 0, 8), pngStart);
      }
    });

    test('[base path] the Python client runs the program of its guide', async (t) => {
      const { service } = started;
      const cwd = await temporaryFolder(t);
      const guide = await readFile('docs/guides/python-client.md', 'utf8');
      const program = /^```python\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? '';
      await writeFile(join(cwd, 'handbook.md'), 'The library opens at nine.\n');
      await writeFile(join(cwd, 'story.py'), program.replaceAll('http://127.0.0.1:8080', service.filesUrl));
      const { modules } = await installPythonClient(t);
      const env = { PATH: '/usr/bin:/bin', PYTHONPATH: modules, PYTHONDONTWRITEBYTECODE: '1' };
      const options = { cwd, env: { ...env, QM_API_KEY: service.key } };
      const { stdout } = await promisify(execFile)('/usr/bin/python3', ['story.py'], options);
      assert.deepEqual(stdout.trim().split('\n'), [
        '1 chunks',
        'The library opens at nine.',
        "{'result': '42', 'value': 42}",
      ]);
    });

    test('[base path] the command line stores both URLs at the login and uses them', async (t) => {
      const { service } = started;
      const home = await temporaryFolder(t);
      const login = ['login', `${service.filesUrl}/`, '--plugins-url', service.pluginsUrl];
      const result = await runCli(login, { home, input: `${service.key}\n` });
      assert.equal(result.code, 0, result.errors);
      const ran = await runCli(['run', 'calculator/evaluate', '--input', '{"expression":"6*7"}', '--json'], { home });
      assert.equal(ran.code, 0, ran.errors);
      assert.match(ran.output, /"42"/);
      const doctor = await runCli(['doctor', '--json'], { home });
      assert.equal(doctor.code, 0, doctor.output + doctor.errors);
    });

    test('[base path] an MCP client finds documents whose url opens the console, and calls a plugin, at both addresses', async () => {
      const { service } = started;
      const { collection_id } = await service.client.collections.create({ name: 'rules' });
      const { record_id } = await service.client.records.create(collection_id, {
        title: 'House rules',
        content: 'Otters may borrow ten books.',
      });
      await service.client.records.wait(collection_id, record_id);
      const requestInit = { headers: { Authorization: `Bearer ${service.key}` } };
      for (const address of [service.filesUrl, service.pluginsUrl]) {
        const call = async (path: string, name: string, input: Record<string, unknown>) => {
          const client = new Client({ name: 'test', version: '1' });
          await client.connect(new StreamableHTTPClientTransport(new URL(address + path), { requestInit }));
          const result = await client.callTool({ name, arguments: input });
          await client.close();
          return result;
        };
        const found = await call('/mcp', 'search', { query: 'otters borrow' });
        const { results } = found.structuredContent as { results: Array<{ url: string }> };
        const [first = { url: '' }] = results;
        assert.ok(first.url.startsWith(`${service.filesUrl}/collections/${collection_id}/records/`), first.url);
        const called = await call('/mcp/calculator', 'evaluate', { expression: '6 * 7' });
        assert.match(JSON.stringify(called.content), /42/);
      }
    });

    test('[base path] every URL and path in a response is below the base path', async () => {
      const { service, origin } = started;
      const { filesUrl, pluginsUrl, key } = service;
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const read = async (url: string) => {
        const answer = await fetch(url, { headers });
        assert.equal(answer.status, 200, url);
        return answer.json();
      };
      for (const url of [pluginsUrl, `${filesUrl}/plugins`]) {
        const body = JSON.stringify(sum);
        const accepted = await fetch(`${url}/v1/execute`, {
          method: 'POST',
          headers: { ...headers, Prefer: 'respond-async' },
          body,
        });
        const { data } = (await accepted.json()) as { data: { run_id: string } };
        const location = new URL(accepted.headers.get('location') ?? '', accepted.url).href;
        assert.equal(location, `${url}/v1/runs/${data.run_id}`);
        assert.equal(((await read(location)) as { data: { run_id: string } }).data.run_id, data.run_id);
      }
      for (const url of [filesUrl, pluginsUrl]) {
        const { servers } = (await read(`${url}/openapi.json`)) as { servers: unknown };
        assert.deepEqual(servers, [{ url }]);
        const page = await (await fetch(`${url}/docs`)).text();
        const path = url.slice(origin.length);
        const linked = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, target = '']) => target);
        assert.ok(linked.length > 2 && linked.every((target) => target.startsWith(`${path}/`)), linked.join(' '));
        for (const target of linked) assert.equal((await fetch(origin + target)).status, 200, target);
        const moved = await fetch(url, { redirect: 'manual' });
        assert.ok([301, 308].includes(moved.status));
        assert.equal(new URL(moved.headers.get('location') ?? '', url).href, `${url}/`);
      }
      const described = (await read(`${pluginsUrl}/v1/bundles/calculator/openapi.json`)) as { servers: unknown };
      assert.deepEqual(described.servers, [{ url: pluginsUrl }]);
      const { data } = (await read(`${pluginsUrl}/v1/bundles?limit=100`)) as {
        data: Array<{ icon_url: string | null }>;
      };
      const icons = data.flatMap(({ icon_url }) => (icon_url === null ? [] : [icon_url]));
      assert.ok(icons.length > 0 && icons.every((url) => url.startsWith(`${pluginsUrl}/v1/bundles/`)));
    });

    test('[base path] a request from which the proxy did not remove the base path gets 404 with the remedy, also in a browser', async () => {
      const { direct } = started;
      for (const [url, path, setting] of [
        [direct.filesUrl, '/quartermaster', 'QUARTERMASTER_PUBLIC_FILES_URL'],
        [direct.filesUrl, '/quartermaster/v1/files?limit=1', 'QUARTERMASTER_PUBLIC_FILES_URL'],
        [direct.pluginsUrl, '/quartermaster-tools/mcp', 'QUARTERMASTER_PUBLIC_PLUGINS_URL'],
      ] as const) {
        const answer = await fetch(url + path, { headers: { Accept: 'text/html' } });
        const { error } = (await answer.json()) as { error: { code: string; message: string } };
        assert.deepEqual([answer.status, error.code], [404, 'OBJECT_NOT_FOUND']);
        assert.match(error.message, new RegExp(`base path ${/^\/[\w-]+/.exec(path)?.[0]} of ${setting}`));
      }
      const other = await fetch(`${direct.filesUrl}/quartermaster-tools/`, { headers: { Accept: 'application/json' } });
      assert.doesNotMatch(await other.text(), /base path/);
    });

    test('[base path] browsers send the cookies of the console only below its path, and a sign-out clears no data of other applications', async () => {
      const { service } = started;
      const admin = await setUp(service);
      assert.equal((await admin.ask('GET', '/v1/files')).status, 200);
      const signIn = await fetch(`${service.filesUrl}/v1/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(account),
      });
      const cookies = signIn.headers.getSetCookie();
      assert.equal(cookies.length, 2);
      for (const cookie of cookies) assert.match(cookie, /; Path=\/quartermaster\/; HttpOnly; SameSite=Strict$/);
      const out = await admin.ask('DELETE', '/v1/session');
      assert.equal(out.status, 200);
      assert.match(out.headers.getSetCookie()[0] ?? '', /^quartermaster_session=; Max-Age=0; Path=\/quartermaster\/;/);
      assert.equal(out.headers.get('clear-site-data'), null);
    });
  });
}
