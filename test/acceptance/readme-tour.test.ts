import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { assertShown, blocksRunBy } from '../support/documented-blocks.ts';
import { serve } from '../support/http.ts';
import { startService, temporaryFolder } from '../support/service.ts';
import { requireTools, toolsNamed } from '../support/system-tools.ts';

const handbook = 'docs/examples/library-handbook.pdf';

test('[documented] every line of the README tour works, in order', async (t) => {
  requireTools(toolsNamed('jq'));
  const folder = await temporaryFolder(t);
  const upstream = await serve(t, (_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    readFile(resolve('bundles/open_meteo/fixtures/forecast.json')).then((body) => response.end(body));
  });
  const service = await startService(t, {
    settings: { EGRESS_OVERRIDES: JSON.stringify({ 'https://api.open-meteo.com': upstream }) },
  });
  for (const path of ['data', 'docs/examples']) await mkdir(join(folder, path), { recursive: true });
  await copyFile(handbook, join(folder, handbook));
  await copyFile(join(service.folder, 'first-key'), join(folder, 'data/first-key'));

  const printed = blocksRunBy(import.meta.filename);
  const blocks = printed.filter(({ language }) => language === 'sh').map(({ text }) => text);
  assert.ok(blocks.length >= 8, `only ${blocks.length} blocks found`);
  const script = blocks
    .join('\necho\necho ---\n')
    .replace('http://127.0.0.1:8080', service.filesUrl)
    .replace('http://127.0.0.1:8081', service.pluginsUrl);
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '' },
  });
  let output = '';
  let errors = '';
  shell.stdout.on('data', (text) => {
    output += text;
  });
  shell.stderr.on('data', (text) => {
    errors += text;
  });
  const [code] = (await once(shell, 'close')) as [number];
  assert.equal(code, 0, errors + output);

  assert.ok(!output.includes('"status":"error"'), output);
  const parts = output.split('---\n');
  assert.match(parts[2] ?? '', /"status":"ready","num_chunks":7/);
  const answer = printed.find(({ language }) => language === 'json') ?? assert.fail('the page shows no answer');
  assertShown(parts[3] ?? '', answer.text);
  assert.equal((await readFile(join(folder, 'page-3.png'))).toString('latin1', 1, 4), 'PNG');
  assert.match(parts[5] ?? '', /"good_match": true,\s+"answer": "[^"]*on a leash/);
  assert.match(parts[6] ?? '', /"plugin_id": "evaluate"[\s\S]*"value": 26/);
  assert.match(parts[7] ?? '', /"temperature": 5\.6/);
});
