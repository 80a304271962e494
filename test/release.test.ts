import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';

const read = (file: string) => readFileSync(file, 'utf8');
const readJson = (file: string) => JSON.parse(read(file));
const { version, scripts } = readJson('package.json') as { version: string; scripts: Record<string, string> };

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: ReadonlyArray<{ readonly run?: string }> }>>;
}

test('each package, the lockfile, the Python client, the change log and the guides name one version', () => {
  const manifests = globSync('packages/*/package.json').map((file) => [file, readJson(file)] as const);
  assert.ok(manifests.length >= 7, `${manifests.length} packages`);
  for (const [file, manifest] of manifests) {
    assert.equal(manifest.version, version, file);
    for (const [name, wanted] of Object.entries(manifest.dependencies ?? {})) {
      if (name.startsWith('@quartermaster/')) assert.equal(wanted, version, `${file}: ${name}`);
    }
  }
  const lock = readJson('package-lock.json') as { packages: Record<string, { version: string }> };
  const own = Object.entries(lock.packages).filter(([path]) => path === '' || /^packages\/[^/]+$/.test(path));
  for (const [path, entry] of own) assert.equal(entry.version, version, `package-lock.json: ${path}`);
  assert.equal(/^version = "(.*)"$/m.exec(read('clients/python/pyproject.toml'))?.[1], version);
  assert.equal(/^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1], version);
  for (const file of ['README.md', 'RELEASING.md', ...globSync('docs/guides/*.md')]) {
    for (const [, named] of read(file).matchAll(/\bquartermaster-(?:client-|plugin-kit-)?(\d+\.\d+\.\d+)[-.]/g)) {
      assert.equal(named, version, file);
    }
  }
});

test('the workflows call scripts and read files that exist', () => {
  const files = globSync('.github/workflows/*.yml');
  assert.ok(files.length >= 3);
  for (const file of files) {
    const text = read(file);
    const { jobs } = parse(text) as Workflow;
    const runs = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = '' }) => run));
    for (const [, script = '', name] of `${runs.join('\n')}\n${text}`.matchAll(
      /npm (?:run )?(test|[a-z:]+) --(?: ([a-z-]+)\b)?/g,
    )) {
      if (!['audit', 'outdated', 'ci', 'install', 'publish'].includes(script))
        assert.ok(scripts[script], `${file}: ${script}`);
      if (script === 'script') assert.ok(globSync(`scripts/${name}.ts`).length === 1, `${file}: ${name}`);
    }
    for (const [path] of text.matchAll(/\b(?:deploy|test|scripts|clients)\/[\w./-]*\w/g)) {
      assert.ok(globSync(path).length === 1, `${file}: ${path}`);
    }
  }
});

test('the workflows name each action by the hash of a commit', () => {
  const used = globSync('.github/workflows/*.yml').flatMap((file) => read(file).match(/\buses: .*/g) ?? []);
  assert.ok(used.length > 10, `${used.length} uses`);
  for (const line of used) assert.match(line, /^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+/);
});

test('the release publishes each package that is built, and the pages say that it never ran', () => {
  const text = read('.github/workflows/release.yml');
  for (const part of [
    'npm publish --provenance',
    'gh-action-pypi-publish',
    'linux/amd64,linux/arm64',
    'sbom: true',
    'sbom.cdx.json',
  ]) {
    assert.ok(text.includes(part), part);
  }
  assert.match(text, /^# This workflow has never run/m);
  assert.match(read('RELEASING.md'), /\*\*It has never run\.\*\*/);
});
