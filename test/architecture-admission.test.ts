import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { exceptions, queues } from '../packages/server/src/platform/admission/queues.ts';

const folder = 'packages/server/src/';
const files = globSync(`${folder}**/*.ts`)
  .filter((path) => !/\.(?:test|suite|fixture)\.ts$|\/testing\//.test(path))
  .map((path) => ({ path: path.slice(folder.length), text: readFileSync(path, 'utf8') }));

type Rule = RegExp | ((text: string) => boolean);

/** Code that limits concurrent work or keeps a waiting list without the component. */
const handmade: readonly Rule[] = [
  /\bcreate\w*(?:Semaphore|FairQueue|Mutex)\b|\bnew (?:Semaphore|PQueue)\b/,
  /\b(?:underWay|inFlight|inUse|running|held|taken)\b *(?:\+= 1|\+\+|-= 1|--)/,
  /\b(?:const|let) (?:waiting|waiters|queue|queued|requeued)\b[^=\n]*= (?:new (?:Set|Map)|\[)/,
  // A collection of functions that end the waits of promises. `resolve(` is a call, such as that of a path.
  /\.(?:push|unshift|add|set)\([^;()]{0,120}\bresolve\b(?!\()/,
  /\b(?:Array|Set|Map)<[^\n]{0,80}\bPromiseWithResolvers\b|\bPromiseWithResolvers<\w+>\[\]/,
  countsUpAndDown,
  (text) => /\.set\([^;]{0,120}\+ 1\)/.test(text) && /\.set\([^;]{0,120}- 1\)/.test(text),
  /\bnew Problem\(\s*'TOO_MANY_REQUESTS'/,
];

/** Whether a counter is increased and decreased. A depth or a position in a text is no such counter. */
function countsUpAndDown(text: string): boolean {
  const namesOf = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, after, before = '']) => after ?? before);
  const up = new Set(namesOf(/(#?\b\w+)(?: \+= 1\b|\+\+)|\+\+(?:this\.)?(#?\w+)/g));
  const down = namesOf(/(#?\b\w+)(?: -= 1\b|--)|--(?:this\.)?(#?\w+)/g);
  return down.some((name) => up.has(name) && !['depth', 'at', 'cut'].includes(name));
}

const finds = (text: string) => handmade.some((rule) => (rule instanceof RegExp ? rule.test(text) : rule(text)));

/** Files that match for another reason. `exceptions` names the others. */
const allowed: Readonly<Record<string, string>> = {
  'access/accounts/accounts.ts': 'calls the password semaphore, which uses the component',
  'access/accounts/password-policy.ts': 'computes, limits nothing',
  'storage/disk/bucket-folders.ts': 'counts syncs of an open folder, so that it is closed after the last one',
  'storage/postgres/postgres-availability.ts': 'counts probes that hang',
  'storage/search-index/postgres/postgres-index-thread.ts': 'matches answers of a thread with their requests',
  'storage/search-index/postgres/question-threads.ts': 'counts the questions of each thread, limits nothing',
  'storage/sqlite/sqlite-thread.ts': 'matches answers of a thread with their requests',
  'storage/s3/parts-upload.ts': 'the parts of one upload',
  'tools/egress/call-timings.ts': 'measures time, limits nothing',
  'tools/execution/sandbox/child.ts': 'runs in the process of the plugin',
  'tools/execution/sandbox/key-shares.ts': 'uses the component; counts the processes with a run',
  'tools/execution/sandbox/handler-context.ts': 'runs in the process of the plugin',
  'tools/execution/sandbox/run.ts': 'the calls of one run',
  'tools/execution/sandbox/slots.ts': 'uses the component; counts the processes with a run',
  'tools/execution/sandbox/worker-set.ts': 'counts the starting processes of the plugin pool, which uses the component',
  'tools/execution/sandbox/worker.ts': 'counts the runs of one process of the plugin pool, which uses the component',
  'stores/extraction/worker/child.ts': 'runs in the process that reads documents',
  'stores/extraction/worker/host.ts': 'counts the batches of one document',
  'platform/jobs/worker.ts': 'counts the jobs whose end is not stored yet',
  'platform/concurrency/group-commit.ts': 'joins what waits into one commit',
  'tools/runs/run-queue.ts': 'uses the component; the map ends the wait of a cancelled run',
  'stores/search/embedding/onnx/onnx-process.ts': 'matches answers of a process with their requests',
  'stores/search/vector-codes/open-vector-thread.ts': 'matches answers of a thread with their requests',
};

test('no code of the server limits concurrent work or keeps a waiting list without the admission component', () => {
  assert.ok(files.length > 500);
  const found = files
    .filter(
      ({ path, text }) =>
        !/^platform\/admission\/|\bproblems\.ts$|^stores\/extraction\/formats\//.test(path) && finds(text),
    )
    .map(({ path }) => path);
  assert.deepEqual(
    found.filter((path) => allowed[path] === undefined && exceptions[path] === undefined),
    [],
  );
  const unused = Object.keys(allowed).filter((path) => !found.includes(path));
  assert.deepEqual(unused, [], 'these exceptions are not needed');
});

test('each exception is a file of the server, and the reference page gives its reason', () => {
  const page = readFileSync('docs/reference/admission.md', 'utf8');
  for (const [path, { limited, reason }] of Object.entries(exceptions)) {
    assert.ok(
      files.some((file) => file.path === path),
      path,
    );
    assert.ok(page.includes(`| ${limited} | ${reason} |`), path);
  }
});

test('each program opens one admission, and no other part has counts of its own', () => {
  const opens = (pattern: RegExp) =>
    files
      .filter(({ path, text }) => !path.startsWith('platform/admission/') && pattern.test(text))
      .map(({ path }) => path);
  assert.deepEqual(opens(/createAdmission\(/).toSorted(), [
    'app/authoring/example-recordings.ts',
    'app/backup/restored-objects.ts',
    'app/move/store-move.ts',
    'app/service/administration.ts',
    'app/service/compose.ts',
  ]);
  assert.deepEqual(opens(/openMemoryCounts/), []);
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

test('the rules find a semaphore, a counter and a waiting list made by hand', () => {
  const examples = [
    'createSemaphore({})',
    'underWay += 1',
    'running++',
    'const waiting = new Set<Turn>()',
    'counts.set(key, count + 1); return () => counts.set(key, (counts.get(key) ?? 1) - 1);',
    'await new Promise<void>((resolve) => callers.push(resolve));',
    'const callers: Array<PromiseWithResolvers<void>> = [];',
    'if (this.#active < most) this.#active++; try { await task(); } finally { this.#active--; }',
    "if (count >= 8) throw new Problem('TOO_MANY_REQUESTS', 'Later.');",
  ];
  assert.deepEqual(
    examples.filter((text) => !finds(text)),
    [],
  );
  assert.equal(finds('found.set(id, resolve(folder, name)); rows += 1; left -= 1;'), false);
});
