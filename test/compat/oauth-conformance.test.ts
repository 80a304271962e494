import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { setUp } from '../support/administrator.ts';
import { findFreePort } from '../support/free-port.ts';
import { send } from '../support/http.ts';
import { openBrowser } from '../support/oauth.ts';
import { startService } from '../support/service.ts';

const program = 'test/compat/node_modules/@modelcontextprotocol/conformance/dist/index.js';

test('[oauth] the conformance suite for authorization servers passes every scenario', async (t) => {
  const service = await startService(t);
  const { filesUrl } = service;
  const browser = openBrowser(filesUrl, await setUp(service));
  const port = await findFreePort();
  const registration = { redirect_uris: [`http://127.0.0.1:${port}/callback`] };
  const { body: client } = await send(`${filesUrl}/oauth/register`, { json: registration });
  const options = { url: filesUrl, 'client-id': client.client_id, resource: `${filesUrl}/mcp`, port: `${port}` };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const suite = spawn(process.execPath, [program, 'authorization', ...args], { signal: t.signal });
  let report = '';
  let sent: Promise<unknown> | undefined;
  const read = (text: string) => {
    report += stripVTControlCharacters(text);
    const [url] = /http:\S+\/oauth\/authorize\?\S+(?=\s)/.exec(report) ?? [];
    // The suite prints a URL that a person opens, and waits for the code at its redirect URI.
    if (url !== undefined) sent ??= browser.allow(url).then((callback) => fetch(callback));
  };
  suite.stdout.setEncoding('utf8').on('data', read);
  suite.stderr.setEncoding('utf8').on('data', read);
  const [code] = await once(suite, 'close');
  await sent;
  assert.equal(code, 0, report);
  for (const scenario of ['authorization-server-metadata-endpoint', 'authorization-code-grant']) {
    assert.match(report, new RegExp(`✓ ${scenario}: [1-9]\\d* passed, 0 failed`), report);
  }
  t.diagnostic(report.slice(report.lastIndexOf('=== SUMMARY')).trim());
});
