import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { commandEnvironment } from '../../../test/support/command-environment.ts';
import { writeTinyModel } from '../../../test/support/tiny-model.ts';
import { runCli } from './testing/run-cli.ts';

const names = ['model.onnx', 'tokenizer.json'];

/** A server with a model. With `isEndless`, no file ends. */
async function open(t: TestContext, { isEndless = false } = {}) {
  const home = await mkdtemp(join(tmpdir(), 'quartermaster-embedding-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const source = join(home, 'source');
  await writeTinyModel(source, { vectors: { tea: [1, 0], car: [0, 1] } });
  const hashes = await Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(source, name));
      return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
    }),
  );
  await writeFile(join(source, 'SHA256SUMS'), hashes.join(''));
  const started = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    if (isEndless && request.url !== '/SHA256SUMS') {
      response.write(Buffer.alloc(2 * 1024 * 1024), () => started.resolve());
      return;
    }
    response.end(await readFile(join(source, request.url ?? '')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const models = join(home, 'models');
  await mkdir(models);
  const sums = join(source, 'SHA256SUMS');
  const checksum = createHash('sha256')
    .update(await readFile(sums))
    .digest('hex');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { home, models, folder: join(models, 'tiny'), url, sums, checksum, started: started.promise };
}

test('"embedding fetch" installs a model with the checksum of its list, into the folder of the setting', async (t) => {
  const { home, folder, url, checksum } = await open(t);
  const environment = { QUARTERMASTER_EMBEDDING_MODEL: folder };
  const args = ['embedding', 'fetch', '--url', url, '--sha256', checksum];
  const first = await runCli(args, { home, environment });
  assert.deepEqual([first.code, first.output.split('\n')[0]], [0, `installed ${folder}`], first.errors);
  assert.match(first.errors, /^model\.onnx: 0 MiB\ntokenizer\.json: 0 MiB\n$/);
  assert.deepEqual((await readdir(folder)).sort(), names);
  const second = await runCli([...args, '--json'], { home, environment });
  assert.deepEqual([second.code, JSON.parse(second.output).unchanged], [0, true]);
});

test('"embedding fetch" names what is missing or wrong, and installs nothing', async (t) => {
  const { home, models, folder, url, sums } = await open(t);
  const fetch = (...args: string[]) => runCli(['embedding', 'fetch', ...args], { home });
  const cases: ReadonlyArray<readonly [args: string[], code: number, message: RegExp]> = [
    [['--url', url, '--sums', sums], 64, /Name the folder, or set QUARTERMASTER_EMBEDDING_MODEL/],
    [[folder, '--url', url], 64, /Give either --sha256 or --sums/],
    [[folder, '--url', 'ftp://example.com', '--sums', sums], 64, /must be an http or https URL/],
    [[folder, '--url', url, '--sha256', 'abc'], 64, /must be 64 hexadecimal digits/],
    [[folder, '--url', url, '--sha256', 'a'.repeat(64)], 1, /The checksum of SHA256SUMS does not match/],
    [[folder, '--url', `${url}/other`, '--sums', sums, '--max-mb', '0'], 64, /must be a whole number/],
  ];
  for (const [args, code, message] of cases) {
    const { code: found, errors } = await fetch(...args);
    assert.match(errors, message);
    assert.equal(found, code, errors);
  }
  assert.deepEqual(await readdir(models), []);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`"embedding fetch" removes its temporary folder on ${signal}`, async (t) => {
    const { home, models, folder, url, sums, started } = await open(t, { isEndless: true });
    const main = join(import.meta.dirname, 'main.ts');
    const child = spawn(process.execPath, [main, 'embedding', 'fetch', folder, '--url', url, '--sums', sums], {
      env: { ...commandEnvironment, HOME: home },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (part) => {
      errors += part;
    });
    await started;
    child.kill(signal);
    const [code] = await once(child, 'close');
    assert.deepEqual(
      [code, errors.trim().split('\n').at(-1)],
      [75, 'quartermaster: Interrupted. Nothing was installed.'],
      errors,
    );
    assert.deepEqual(await readdir(models), []);
  });
}
