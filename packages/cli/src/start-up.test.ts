import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const main = join(import.meta.dirname, 'main.ts');
const hook = join(import.meta.dirname, 'testing/count-modules.ts');

/** Files of the command line and of commander. A start reads each of them. */
const mostFiles = 60;

for (const args of [['--version'], ['--help'], ['run', 'list', '--help'], ['bundle', 'import', 'openapi', '--help']]) {
  test(`\`quartermaster ${args.join(' ')}\` loads no module of the server and few files`, async () => {
    const { stdout, stderr } = await run(process.execPath, ['--import', hook, main, ...args]);
    assert.match(stdout, /^(?:\d+\.\d+\.\d+|Usage: quartermaster)/);
    const [, count] = /^(\d+) files loaded$/m.exec(stderr) ?? [];
    assert.ok(Number(count) <= mostFiles, `${count} files`);
  });
}

test('a command that needs the server loads it', async () => {
  const failed = run(process.execPath, ['--import', hook, main, 'project', 'list']);
  await assert.rejects(failed, /A command loads file:.*\/packages\/server\//);
});
