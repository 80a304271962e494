import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { serve } from '../support/http.ts';
import { startService, temporaryFolder } from '../support/service.ts';

test('[documented] every line of the README tour works, in order', async (t) => {
  const folder = await temporaryFolder(t);
  const upstream = await serve(t, (_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    readFile(resolve('bundles/open_weather/fixtures/current.json')).then((body) => response.end(body));
  });
  const service = await startService(t, {
    settings: { EGRESS_OVERRIDES: JSON.stringify({ 'https://api.openweathermap.org': upstream }) },
  });
  await mkdir(join(folder, 'data'));
  await copyFile(join(service.folder, 'first-key'), join(folder, 'data/first-key'));

  const readme = await readFile('README.md', 'utf8');
  const blocks = [...readme.matchAll(/<!-- tour[^>]*-->\n```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  assert.ok(blocks.length >= 8, `only ${blocks.length} blocks found`);
  const script = blocks
    .join('\necho\necho ---\n')
    .replace('http://127.0.0.1:8080', service.filesUrl)
    .replace('http://127.0.0.1:8081', service.pluginsUrl);
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', OPEN_WEATHER_API_KEY: 'canary-weather-key' },
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
  assert.match(parts[1] ?? '', /"file_id":"file/);
  assert.match(parts[2] ?? '', /"status":"ready"/);
  assert.match(parts[3] ?? '', /opens at nine/);
  assert.match(parts[4] ?? '', /on a leash/);
  assert.match(parts[5] ?? '', /"bundle_id":"calculator"/);
  assert.match(parts[6] ?? '', /"value":26/);
  assert.match(parts[7] ?? '', /temperature_celsius/);
  assert.ok(!output.includes('canary-weather-key'));
});
