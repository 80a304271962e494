import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { loadFolder } from '../../catalogue/load/load-folder.ts';
import type { PluginSearch } from '../../catalogue/plugin-search.ts';
import { createPluginSearch } from './plugin-search.ts';

const root = resolve(import.meta.dirname, '../../../../../..');

interface Task {
  /** A task in plain words. */
  readonly task: string;
  /** The plugins that can do it, as `bundle/plugin`. */
  readonly tools: readonly string[];
}

function readTasks(name: string): Task[] {
  return JSON.parse(readFileSync(resolve(root, 'test/fixtures/tool-search', name), 'utf8')) as Task[];
}

const inEnglish = (text: string | { readonly en: string }) => (typeof text === 'string' ? text : text.en);

let search: PluginSearch;
let plugins: ReadonlySet<string>;
before(async () => {
  const catalogue = await loadFolder(resolve(root, 'bundles'));
  search = createPluginSearch(() => catalogue);
  const all = [...catalogue.bundles.values()].flatMap(({ id, plugins: own }) =>
    [...own.keys()].map((one) => `${id}/${one}`),
  );
  plugins = new Set(all);
});

/** Returns the tasks for which no right tool is among the first five. */
async function missedTasks(tasks: readonly Task[]): Promise<string[]> {
  const missed: string[] = [];
  for (const { task, tools } of tasks) {
    for (const tool of tools) assert.ok(plugins.has(tool), tool);
    const found = (await search.find(task)).slice(0, 5).map(({ bundle, id }) => `${bundle.id}/${id}`);
    if (!tools.some((tool) => found.includes(tool))) missed.push(`${task}: ${found.join(', ')}`);
  }
  return missed;
}

test('a right tool is among the first five for at least 57 of 60 tasks that were written before the search', async () => {
  const tasks = readTasks('tasks.json');
  assert.equal(tasks.length, 60);
  const missed = await missedTasks(tasks);
  assert.ok(missed.length <= 3, missed.join('\n'));
});

test('a right tool is among the first five for at least 36 of 40 tasks that were written before the word groups', async () => {
  const tasks = readTasks('further-tasks.json');
  assert.equal(tasks.length, 40);
  const missed = await missedTasks(tasks);
  assert.ok(missed.length <= 4, missed.join('\n'));
});

test('a right tool is among the first five for at least 18 of 20 tasks in Chinese', async () => {
  const tasks = readTasks('chinese-tasks.json');
  assert.equal(tasks.length, 20);
  const missed = await missedTasks(tasks);
  assert.ok(missed.length <= 2, missed.join('\n'));
});

test('a right tool is among the first five for at least 12 of 20 tasks that avoid the words of the catalogue', async () => {
  const tasks = readTasks('avoiding-tasks.json');
  assert.equal(tasks.length, 20);
  const missed = await missedTasks(tasks);
  assert.ok(missed.length <= 8, missed.join('\n'));
});

test('the title of each tool with the name of its bundle finds a tool with this title first', async () => {
  const catalogue = await loadFolder(resolve(root, 'bundles'));
  const missed: string[] = [];
  for (const bundle of catalogue.bundles.values()) {
    for (const { manifest } of bundle.plugins.values()) {
      const question = `${inEnglish(bundle.manifest.name)} ${inEnglish(manifest.name)}`;
      const [first] = await search.find(question);
      if (first?.bundle.id !== bundle.id || inEnglish(first.manifest.name) !== inEnglish(manifest.name))
        missed.push(`${question}: ${first?.bundle.id}/${first?.id}`);
    }
  }
  assert.deepEqual(missed, []);
});

test('words of a question that occur nowhere find nothing', async () => {
  assert.deepEqual(await search.find('xylophone qwertz'), []);
  assert.deepEqual(await search.find('what is it'), []);
});
