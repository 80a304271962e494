import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { blocksRunBy } from '../../../test/support/documented-blocks.ts';

const main = resolve(import.meta.dirname, 'main.ts');
const bundles = resolve(import.meta.dirname, '../../../bundles');

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'bundle', ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'quartermaster-cli-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('a new bundle loads, its test fails until it is written, and its types match its schemas', async (t) => {
  const out = await temporaryFolder(t);
  const folder = join(out, 'mine');
  assert.equal(run('new', 'mine', '--out', out).stdout.trim(), folder);
  assert.deepEqual([run('check', folder).status, run('check', folder).stderr], [0, '']);
  const red = run('test', folder);
  assert.equal(red.status, 1);
  assert.match(red.stderr, /greet example 1: it ended as input_rejected: greet is not written yet/);
  const types = await readFile(join(folder, 'types.ts'), 'utf8');
  assert.equal(run('types', folder).status, 0);
  assert.equal(await readFile(join(folder, 'types.ts'), 'utf8'), types);
  await writeFile(
    join(folder, 'greet.ts'),
    "export const run = ({ name }) => ({ greeting: 'Hello, ' + name + '!' });\n",
  );
  assert.deepEqual(run('test', folder), { status: 0, stdout: `${folder}: 1 of 1 examples pass\n`, stderr: '' });
  assert.match(run('new', 'mine', '--out', out).stderr, /mine already exists/);
  assert.match(run('new', '../mine', '--out', out).stderr, /The id of a bundle must be/);
});

test('the bundles of the guide pass check and test as they are printed', async (t) => {
  const out = await temporaryFolder(t);
  for (const { language, text } of blocksRunBy(import.meta.filename)) {
    const path = join(out, language.replace(/^\w+ /, ''));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  for (const [id, count] of [
    ['weather', 1],
    ['statistics', 2],
  ] as const) {
    const folder = join(out, id);
    assert.equal(run('check', folder).status, 0);
    assert.deepEqual(run('test', folder), {
      status: 0,
      stdout: `${folder}: ${count} of ${count} examples pass\n`,
      stderr: '',
    });
  }
});

test('check refuses a folder that is not a bundle', async (t) => {
  const out = await temporaryFolder(t);
  for (const [folder, says] of [
    [join(out, 'nowhere'), /This path is not a folder\. Name the folder of a bundle/],
    [out, /The file bundle\.yaml does not exist in the folder/],
  ] as const) {
    const { status, stderr } = run('check', folder);
    assert.equal(status, 1);
    assert.match(stderr, says);
  }
});

test('check names file, line and field of an error', async (t) => {
  const out = await temporaryFolder(t);
  run('new', 'mine', '--out', out);
  const path = join(out, 'mine', 'greet.yaml');
  await writeFile(path, (await readFile(path, 'utf8')).replace('effects: read', 'effects: reads'));
  const { status, stderr } = run('check', join(out, 'mine'));
  assert.equal(status, 1);
  assert.match(stderr, /^mine\/greet\.yaml:4 effects: Must be one of "read"/);
});

test('the examples of our own bundles pass, with and without recordings', () => {
  const { status, stdout, stderr } = run(
    'test',
    join(bundles, 'arithmetic'),
    join(bundles, 'exchangerate_api'),
    join(bundles, 'arxiv_search'),
  );
  assert.deepEqual([status, stderr], [0, '']);
  assert.equal(stdout.match(/examples pass/g)?.length, 3);
});

test('an OpenAPI document is imported, and the report lists everything that was left out', async (t) => {
  const out = await temporaryFolder(t);
  const document = resolve(import.meta.dirname, '../../../test/bundles/every-style.openapi.yaml');
  const { status, stdout, stderr } = run(
    'import',
    'openapi',
    document,
    '--out',
    out,
    '--id',
    'styles',
    '--rename',
    'queries=ask',
  );
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /not imported: TRACE \/raw: declarative plugins do not support the method TRACE/);
  assert.match(stdout, /12 of 13 operations imported into/);
  const report = JSON.parse(await readFile(join(out, 'styles', 'import-report.json'), 'utf8'));
  assert.equal(report.imported[0].plugin_id, 'ask');
});

test('a command with a wrong file or folder prints one sentence, and a command that succeeds no warning', async (t) => {
  const out = await temporaryFolder(t);
  const document = join(out, 'README.md');
  await writeFile(document, '# Tea\n\nName: [green tea: from\n');
  const imported = run('import', 'openapi', document, '--out', join(out, 'api'));
  assert.deepEqual([imported.status, imported.stdout], [1, '']);
  assert.match(
    imported.stderr,
    /^quartermaster: The document is neither JSON nor YAML: .+ at line \d+, column \d+\.\n$/,
  );
  assert.match(
    run('check', join(out, 'nowhere')).stderr,
    /nowhere: This path is not a folder\. Name the folder of a bundle\.\n$/,
  );
  const packed = run('pack', join(bundles, 'arithmetic'), '--out', join(out, 'new', 'archives'));
  assert.match(packed.stderr, /^arithmetic@\S+, \d+ files, \d+ bytes\n$/);
});
