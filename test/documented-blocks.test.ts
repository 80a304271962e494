import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ExecuteRequest, RecordCreate } from '@quartermaster/contract';
import { BundleManifest, PluginManifest } from '@quartermaster/plugin-kit';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Type } from 'typebox';
import { parse } from 'yaml';
import { parseConfig } from '../packages/server/src/app/settings/config.ts';
import { readModelsFile } from '../packages/server/src/app/settings/models-file.ts';
import { readModelFolder } from '../packages/server/src/stores/search/embedding/onnx/model-folder.ts';
import { blocksRunBy, readBlocks, rowOf, rows } from './support/documented-blocks.ts';
import { temporaryFolder } from './support/service.ts';

const root = resolve(import.meta.dirname, '..');

test('[documented] a test runs every block of the pages, or the list says why none does', (t) => {
  const blocks = readBlocks();
  assert.ok(blocks.length > 120, `${blocks.length} blocks`);
  const decided = blocks.map((block) => ({ block, row: rowOf(block) }));
  const missing = decided.filter(({ row }) => row === undefined).map(({ block }) => `${block.page}:${block.line}`);
  assert.deepEqual(missing, [], 'Add a row to test/support/documented-blocks.ts.');
  const used = new Set(decided.map(({ row }) => row));
  assert.deepEqual(
    rows.filter((row) => !used.has(row)),
    [],
    'rows without a block',
  );
  const tests = new Set(rows.map(({ by }) => by).filter((by) => !by.startsWith('no: ')));
  for (const file of tests)
    assert.match(readFileSync(join(root, file), 'utf8'), /blocksRunBy\(import\.meta\.filename/, file);
  for (const [file] of rows.flatMap(({ by }) => [...by.matchAll(/[\w./-]+\.test\.ts\b/g)]))
    readFileSync(join(root, file));
  const idle = decided.filter(({ row }) => row?.by.startsWith('no: ')).length;
  t.diagnostic(`${blocks.length} blocks: ${blocks.length - idle} run, ${idle} with a reason`);
});

test('[documented] the service accepts the settings that the pages print', async (t) => {
  const folder = await temporaryFolder(t);
  const place = (text: string) => text.replaceAll(/(?<=[= "])\/(?=(?:etc|run|var)\/)/g, `${folder}/`);
  const blocks = blocksRunBy(import.meta.filename, undefined, 'sh');
  const pages = new Set(blocks.map(({ page }) => page));
  assert.ok(pages.size > 2, `${pages.size} pages`);
  for (const page of pages) {
    const texts = blocks.filter((block) => block.page === page).map(({ text }) => text);
    const script = `${place(texts.join('')).replaceAll(/(?:npm start|quartermaster (?:start|move .*))$/gm, '')}\nenv -0`;
    for (const [file] of script.matchAll(/(?<=_FILE=)\S+/g)) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, 'A'.repeat(43));
    }
    const { stdout } = await promisify(execFile)('bash', ['-euac', script], { env: { PATH: process.env.PATH ?? '' } });
    const variables = stdout.split('\0').filter((one) => /^(?:QUARTERMASTER|AWS)_/.test(one));
    assert.ok(variables.length > 2, page);
    const environment = variables.map((one) => [one.split('=', 1)[0], one.slice(one.indexOf('=') + 1)]);
    assert.doesNotThrow(() => parseConfig(Object.fromEntries(environment)), page);
  }
});

test('[documented] the documents that the pages print follow their schemas', async (t) => {
  const folder = await temporaryFolder(t);
  const ajv = new Ajv2020({ strict: false });
  const accept = (schema: object, value: unknown) => assert.ok(ajv.validate(schema, value), ajv.errorsText());
  const checks: Readonly<Record<string, (text: string) => unknown>> = {
    'docs/guides/bundles.md': (text) =>
      accept(Type.Partial(Type.Object({ ...BundleManifest.properties, ...PluginManifest.properties })), parse(text)),
    'docs/guides/connections.md': (text) => accept(ExecuteRequest, JSON.parse(text)),
    'docs/guides/embedding.md': async (text) => {
      if (!text.startsWith('[')) return await readModel(folder, text);
      const file = join(folder, 'models.json');
      await writeFile(join(folder, 'openai-key'), 'key');
      await writeFile(file, text.replace('/etc/quartermaster', folder));
      const errors: string[] = [];
      readModelsFile(file, errors);
      assert.deepEqual(errors, []);
    },
    'docs/guides/runs.md': (text) =>
      text.startsWith('{"status"') ? JSON.parse(text) : accept(ExecuteRequest, JSON.parse(text)),
    'docs/reference/errors.md': (text) => JSON.parse(text),
    'docs/reference/sheets.md': (text) => accept(RecordCreate, JSON.parse(text)),
  };
  for (const { page, line, language, text } of blocksRunBy(import.meta.filename)) {
    if (language === 'sh') continue;
    const check = checks[page] ?? assert.fail(`${page}:${line} has no check`);
    await t.test(`${page}:${line}`, async () => void (await check(text)));
  }
});

/** Reads a model folder whose `quartermaster.json` is that of the page. */
async function readModel(folder: string, text: string): Promise<void> {
  for (const name of ['model.onnx', 'tokenizer.json']) await writeFile(join(folder, name), '{}');
  await writeFile(join(folder, 'quartermaster.json'), text);
  const { queryPrefix, documentPrefix } = await readModelFolder(folder);
  assert.deepEqual([queryPrefix, documentPrefix], ['query: ', 'passage: ']);
}
