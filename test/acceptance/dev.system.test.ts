import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { temporaryFolder } from '../support/service.ts';

/** Copies the sources. Installed packages are links, and packages of this repository refer to the copy. */
async function copySources(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const name of ['package.json', 'tsconfig.json', 'bundles', 'scripts', 'packages']) {
    cpSync(name, join(folder, name), { recursive: true, filter: (path) => !/node_modules|\.test\.ts$/.test(path) });
  }
  for (const place of ['.', 'packages/console']) {
    mkdirSync(join(folder, place, 'node_modules/@quartermaster'), { recursive: true });
    for (const name of readdirSync(join(place, 'node_modules'))) {
      if (name.startsWith('.') || name === '@quartermaster') continue;
      symlinkSync(resolve(place, 'node_modules', name), join(folder, place, 'node_modules', name));
    }
  }
  for (const name of readdirSync('packages')) {
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules/@quartermaster', name));
  }
  return folder;
}

/** Returns the output of a process, and a function that waits for a text in it. */
function follow(child: ChildProcess) {
  let output = '';
  const onText = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const check of onText) check();
    });
  }
  return {
    output: () => output,
    until: (pattern: RegExp) =>
      new Promise<string>((found, failed) => {
        const check = () => {
          const match = pattern.exec(output);
          if (match === null) return;
          onText.delete(check);
          found(match[1] ?? match[0]);
        };
        onText.add(check);
        child.once('exit', () => failed(new Error(`npm run dev ended before ${pattern}:\n${output}`)));
        check();
      }),
  };
}

function change(file: string, from: string, to: string): void {
  const source = readFileSync(file, 'utf8');
  assert.ok(source.includes(from), `${file} has no ${from}`);
  writeFileSync(file, source.replace(from, to));
}

test('npm run dev refuses a wrong or used console port with one sentence, and starts no service', async (t) => {
  const used = createServer().listen(0, '127.0.0.1');
  await once(used, 'listening');
  t.after(() => used.close());
  const { port } = used.address() as AddressInfo;
  const cases = [
    ['abc', /^quartermaster: --console-port must be a port from 0 to 65535; received "abc"\.\n$/],
    [String(port), /^quartermaster: Vite cannot start: .*in use.*Choose a port with --console-port\.\n$/],
  ] as const;
  for (const [text, sentence] of cases) {
    const data = join(await temporaryFolder(t), 'data');
    const dev = spawn(process.execPath, ['scripts/dev.mjs', '--console-port', text], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', HOME: data, QUARTERMASTER_DATA: data, QUARTERMASTER_FILES_PORT: '0' },
    });
    const { output } = follow(dev);
    // `close` also waits for every child that holds the output.
    assert.deepEqual(await once(dev, 'close'), [1, null]);
    assert.match(output(), sentence);
    assert.equal(existsSync(data), false);
  }
});

test('npm run dev reloads the page after a change of the console and the service after a change of the server', async (t) => {
  const folder = await copySources(t);
  const dev = spawn(process.execPath, ['scripts/dev.mjs', '--console-port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      QUARTERMASTER_DATA: join(folder, 'data'),
      QUARTERMASTER_FILES_PORT: '0',
      QUARTERMASTER_PLUGINS_PORT: '0',
    },
  });
  // Also ends its child processes if the test fails before it stops them.
  t.after(() => isEnded || process.kill(-(dev.pid ?? 0), 'SIGKILL'));
  let isEnded = false;
  dev.once('exit', () => {
    isEnded = true;
  });
  const { until, output } = follow(dev);
  const consoleUrl = await until(/console that reloads: (http:\S+\d)/);
  const filesUrl = await until(/files address +(http:\S+)/);
  await until(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}service started files=/m);
  assert.doesNotMatch(output(), /^\{/m, 'logs are readable');

  const { page } = await openBrowser(t);
  await page.goto(`${consoleUrl}/setup#token`);
  await page.getByText('Choose a name and a password for the administrator. This link works once.').waitFor();
  const text = join(folder, 'packages/console/src/language/en-shell.ts');
  change(
    text,
    'Choose a name and a password for the administrator. This link works once.',
    'A changed sentence of the console',
  );
  await page.getByText('A changed sentence of the console').waitFor();

  change(
    join(folder, 'packages/server/src/main.ts'),
    'await runUntilSignal();',
    "console.log('changed server');\nawait runUntilSignal();",
  );
  await until(/changed server\n[\s\S]*files address/);
  const ready = await fetch(`${consoleUrl}/v1/ready`);
  assert.equal(ready.status, 200, 'Vite passes calls on to the restarted service');
  assert.equal((await fetch(`${filesUrl}/v1/ready`)).status, 200, 'at the same address');
  dev.kill('SIGTERM');
  assert.deepEqual(await once(dev, 'exit'), [0, null]);
});
