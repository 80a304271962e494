import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { findFreePorts } from '../support/free-port.ts';
import { startRegistry } from '../support/npm-registry.ts';
import { provideArchives } from '../support/packed-archives.ts';
import { temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);

/** An empty folder whose npm knows the archives of a release by their names, with a cache of its own. */
async function publishRelease(t: TestContext) {
  const home = await temporaryFolder(t);
  const registry = await startRegistry(t);
  await writeFile(join(home, '.npmrc'), `//${new URL(registry).host}/:_authToken=any\n`);
  const { files, plugins } = await findFreePorts();
  const env = {
    ...process.env, // how npm reaches the registry of this machine
    ...{ npm_config_userconfig: join(homedir(), '.npmrc'), npm_config_ignore_scripts: 'true' },
    ...{ HOME: home, XDG_CONFIG_HOME: home, npm_config_registry: registry, npm_config_cache: join(home, 'cache') },
    ...{ QUARTERMASTER_FILES_PORT: String(files), QUARTERMASTER_PLUGINS_PORT: String(plugins) },
    QUARTERMASTER_DRAIN_SECONDS: '0',
  };
  for (const archive of (await provideArchives(join(home, 'archives'))).values()) {
    await run('npm', ['publish', '--access', 'public', archive], { cwd: home, env });
  }
  const cwd = join(home, 'empty');
  await mkdir(cwd);
  return { home, cwd, env };
}

test('[package] published to a registry, npx starts the service in an empty folder, and its commands reach a cited answer', async (t) => {
  const { home, cwd, env } = await publishRelease(t);
  const began = performance.now();
  const child = spawn('npx', ['--yes', 'quartermaster', 'start'], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const end = () => process.kill(-(child.pid ?? 0), 'SIGTERM');
  t.after(() => child.exitCode ?? child.signalCode ?? end());
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('plugins address')) break;
  child.stdout.resume();
  const started = performance.now();

  const quartermaster = async (...args: string[]) =>
    (await run('npx', ['--yes', 'quartermaster', ...args], { cwd, env })).stdout.trim();
  await writeFile(join(cwd, 'handbook.md'), '# Opening hours\n\nThe library opens at nine.\n');
  await quartermaster('login', `http://127.0.0.1:${env.QUARTERMASTER_FILES_PORT}`, '--key-file', 'data/first-key');
  const collection = await quartermaster('collections', 'create', 'handbook');
  await quartermaster('records', 'add', collection, 'handbook.md', '--wait');
  const hit = JSON.parse(
    await quartermaster('search', collection, 'When does the library open?', '--top-k', '1', '--json'),
  );
  assert.match(hit.content, /opens at nine/);
  assert.deepEqual([hit.file_name, hit.locator.heading_path], ['handbook.md', ['Opening hours']]);
  const seconds = [started - began, performance.now() - began].map((time) => (time / 1000).toFixed(1));
  t.diagnostic(`${seconds[0]} s until the service was ready, ${seconds[1]} s until the cited answer`);

  const page = await fetch(`http://127.0.0.1:${env.QUARTERMASTER_FILES_PORT}/`);
  assert.match(await page.text(), /<title>Quartermaster/, 'the console is in the package');
  end();
  await once(child, 'close'); // the service has its standard output, too

  const [installed = ''] = globSync(join(home, 'cache/_npx/*'));
  await assertListed(t, installed);
});

/** npm's own list of components of an installation has what the list in the package has, in the versions that were tested. */
async function assertListed(t: TestContext, installed: string): Promise<void> {
  const files = globSync(join(installed, '**'), { withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  t.diagnostic(`${files.length} files, ${(bytes / 2 ** 20).toFixed(1)} MiB`);
  await run('npm', ['pkg', 'set', 'version=1.0.0'], { cwd: installed }); // without one, npm lists nothing
  const { stdout } = await run('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: installed, maxBuffer: 2 ** 26 });
  const own = readFileSync(join(installed, 'node_modules/quartermaster/sbom.cdx.json'), 'utf8');
  const read = (text: string) =>
    (JSON.parse(text) as { components: { purl: string }[] }).components.map(({ purl }) => purl);
  const listed = new Set(read(own));
  const others = read(stdout).filter((purl) => !purl.startsWith('pkg:npm/quartermaster@'));
  assert.ok(others.length > 100, `${others.length} components`);
  assert.deepEqual(
    others.filter((purl) => !listed.has(purl)),
    [],
  );
}
