import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const limit = resolve(import.meta.dirname, 'support/file-time-limit.ts');

test('a test file that never ends is stopped at its time limit, named and counted as failed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-limit-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const run = (body: string, seconds: string) => {
    const file = join(folder, 'sample.test.mjs');
    writeFileSync(file, `import { test } from 'node:test'; test('sample', () => {}); ${body}`);
    return spawnSync(process.execPath, ['--test', `--import=${limit}`, file], {
      env: { PATH: process.env.PATH, TEST_FILE_SECONDS: seconds },
      encoding: 'utf8',
    });
  };
  const endless = run('setInterval(() => {}, 100);', '0.5');
  assert.equal(endless.status, 1);
  assert.match(endless.stdout, /sample\.test\.mjs is still running after 0\.5 s and is ended\. Still open: .*Timeout/);
  assert.equal(run('', '900').status, 0);
});
