import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface Component {
  readonly name: string;
  readonly version: string;
  readonly hashes?: ReadonlyArray<{ readonly alg: string }>;
}

test('the list of components has every production package of the server and the console with its hash, and no tool of the development', async () => {
  const { stdout } = await run(process.execPath, ['scripts/component-list.ts'], { maxBuffer: 16 * 1024 * 1024 });
  const list = JSON.parse(stdout) as { bomFormat: string; components: Component[] };
  assert.equal(list.bomFormat, 'CycloneDX');
  const listed = new Map(list.components.map((component) => [component.name, component]));
  const packages = ['server', 'console']
    .flatMap((name) => {
      const manifest = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as {
        dependencies: Record<string, string>;
      };
      return Object.entries(manifest.dependencies);
    })
    .filter(([name]) => !name.startsWith('@quartermaster/'));
  assert.ok(packages.length >= 22, `only ${packages.length} packages`);
  for (const [name, version] of packages) {
    assert.equal(listed.get(name)?.version, version, name);
    assert.ok(
      listed.get(name)?.hashes?.some(({ alg }) => alg === 'SHA-512'),
      name,
    );
  }
  for (const tool of ['typescript', 'vite', 'playwright-core', '@biomejs/biome']) assert.ok(!listed.has(tool), tool);
});
