import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const main = join(import.meta.dirname, 'main.ts');
const hook = join(import.meta.dirname, 'testing/count-modules.ts');

/** The maximum number of loaded files of the command line and of commander. A start reads each of them. */
const mostFiles = 60;

for (const command of ['--version', '--help', 'files list --help', 'run list --help', 'bundle import openapi --help']) {
  const args = command.split(' ');
  test(`\`quartermaster ${command}\` loads no module of the server and few files`, async () => {
    const { stdout, stderr } = await run(process.execPath, ['--import', hook, main, ...args]);
    assert.match(stdout, /^(?:\d+\.\d+\.\d+|Usage: quartermaster)/);
    const [, count] = /^(\d+) files loaded$/m.exec(stderr) ?? [];
    assert.ok(Number(count) <= mostFiles, `${count} files`);
  });
}

/** The maximum number of loaded files for commands that use a service, with the client. */
const mostFilesOfRequests = 90;

for (const command of ['files list', 'records add x --text y', 'search x y', 'plugins list', 'run x/y', 'login']) {
  test(`\`quartermaster ${command}\` loads no module of the server before its request`, async () => {
    const service = { QUARTERMASTER_URL: 'http://127.0.0.1:1', QUARTERMASTER_API_KEY: 'qmk_x' };
    const address = command === 'login' ? ['http://127.0.0.1:1'] : [];
    const failed = run(process.execPath, ['--import', hook, main, ...command.split(' '), ...address], {
      env: { HOME: '/nonexistent', ...service },
    });
    await assert.rejects(failed, (error: { code: number; stderr: string }) => {
      const [, count] = /^(\d+) files loaded$/m.exec(error.stderr) ?? [];
      assert.ok(Number(count) <= mostFilesOfRequests, `${count} files`);
      return error.code === 69;
    });
  });
}

test('a command that needs the server loads it', async () => {
  const failed = run(process.execPath, ['--import', hook, main, 'project', 'list']);
  await assert.rejects(failed, /A command loads file:.*\/packages\/server\//);
});
