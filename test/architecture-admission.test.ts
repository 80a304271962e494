import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { queues } from '../packages/server/src/kernel/admission/queues.ts';

const folder = 'packages/server/src/';
const files = globSync(`${folder}**/*.ts`)
  .filter((path) => !/\.(?:test|suite|fixture)\.ts$|\/testing\//.test(path))
  .map((path) => ({ path: path.slice(folder.length), text: readFileSync(path, 'utf8') }));

/** Code that limits concurrent work or keeps a waiting list without the component. */
const handmade = [
  /\bcreate\w*(?:Semaphore|FairQueue|Mutex)\b|\bnew (?:Semaphore|PQueue)\b/,
  /\b(?:underWay|inFlight|inUse|running|held|taken)\b *(?:\+= 1|\+\+|-= 1|--)/,
  /\b(?:const|let) (?:waiting|waiters|queue|queued|requeued)\b[^=\n]*= (?:new (?:Set|Map)|\[)/,
];

/** Files that match for another reason. */
const allowed: Readonly<Record<string, string>> = {
  'access/administrator/administrators.ts': 'calls the password semaphore, which uses the component',
  'access/administrator/password-semaphore.ts': 'uses the component',
  'access/administrator/password-policy.ts': 'computes, limits nothing',
  'adapters/disk/hash-thread.ts': 'matches answers of a thread with their requests',
  'adapters/search-index/merge-backlog.ts': 'background merges, at most one for each collection',
  'adapters/postgres/postgres-availability.ts': 'counts probes that hang',
  'adapters/sqlite/sqlite-thread.ts': 'matches answers of a thread with their requests',
  'egress/call-timings.ts': 'measures time, limits nothing',
  'execution/sandbox/child.ts': 'runs in the process of the plugin',
  'execution/sandbox/run.ts': 'the calls of one run',
  'http/slow-readers.ts': 'closes the connection that has not read for the longest time, of any caller',
  'kernel/concurrency/group-commit.ts': 'joins the waiting writes into one commit',
  'runs/run-queue.ts': 'uses the component; the map ends the wait of a cancelled run',
  'search/embedding/onnx/onnx-process.ts': 'matches answers of a process with their requests',
  'search/vector-pages/open-page-thread.ts': 'matches answers of a thread with their requests',
};

test('no code of the server limits concurrent work or keeps a waiting list without the admission component', () => {
  assert.ok(files.length > 500);
  const found = files
    .filter(({ path, text }) => !path.startsWith('kernel/admission/') && handmade.some((each) => each.test(text)))
    .map(({ path }) => path);
  assert.deepEqual(
    found.filter((path) => allowed[path] === undefined),
    [],
  );
  const unused = Object.keys(allowed).filter((path) => !found.includes(path));
  assert.deepEqual(unused, [], 'these exceptions are not needed');
});

test('each listed queue is opened in one place, and the reference page has a row for it', () => {
  const opened = files.flatMap(({ text }) =>
    [...text.matchAll(/\.(?:queue|places|pool)\(\s*'(\w+)'/g)].map(([, name = '']) => name),
  );
  assert.deepEqual(opened.toSorted(), Object.keys(queues).toSorted());
  const page = readFileSync('docs/reference/admission.md', 'utf8');
  assert.deepEqual(
    Object.keys(queues).filter((name) => !page.includes(`| \`${name}\` |`)),
    [],
  );
});

test('the rules find a semaphore, a counter and a waiting list that do not use the component', () => {
  const examples = ['createSemaphore({})', 'underWay += 1', 'running++', 'const waiting = new Set<Turn>()'];
  for (const text of examples)
    assert.ok(
      handmade.some((each) => each.test(text)),
      text,
    );
});
