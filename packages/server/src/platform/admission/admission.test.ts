import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../metrics.ts';
import { createAdmission } from './admission.ts';
import type { QueueOptions } from './admission-queue.ts';
import type { Owner } from './owner.ts';
import type { PlaceOptions } from './places.ts';

const by = (projectId: string | null, keyId: string | null = 'key'): Owner => ({ projectId, keyId });
const refused = { code: 'TOO_MANY_REQUESTS', headers: { 'Retry-After': '5' } };

/** Starts tasks that end on request, and records their results. */
function openQueue(options: Partial<QueueOptions> = {}) {
  const metrics = createMetrics();
  const queue = createAdmission({ metrics }).queue('extraction', {
    permits: 1,
    waiting: 4,
    keepsPlaces: false,
    ...options,
  });
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  async function ask(name: string, owner: Owner, wait: Parameters<typeof queue.acquire>[1] = {}) {
    const task = async () => {
      log.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    };
    await queue.run(owner, task, wait).then(
      (result) => result === null && log.push(`${name} left`),
      (error) => log.push(`${name} ${error.code}`),
    );
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  async function end(name: string) {
    ends.get(name)?.();
    await settle();
  }
  return { queue, log, ask, end, settle, metrics };
}

test('projects take turns, and within a project its keys, however many entries one of them has', async () => {
  const { ask, end, log, settle } = openQueue({ waiting: 100 });
  void ask('first', by('a', '1'));
  for (let n = 0; n < 50; n++) void ask(`a1-${n}`, by('a', '1'));
  for (let n = 0; n < 2; n++) void ask(`a2-${n}`, by('a', '2'));
  for (let n = 0; n < 3; n++) void ask(`b-${n}`, by('b'));
  await settle();
  for (let n = 0; n < 7; n++) await end(log.at(-1) ?? '');
  assert.deepEqual(log, ['first', 'a1-0', 'b-0', 'a2-0', 'b-1', 'a1-1', 'b-2', 'a2-1']);
});

test('a free permit goes to the project that runs least', async () => {
  const { ask, end, log, settle } = openQueue({ permits: 2 });
  for (let n = 0; n < 4; n++) void ask(`a-${n}`, by('a'));
  void ask('b-0', by('b'));
  void ask('b-1', by('b'));
  await settle();
  await end('a-0');
  assert.deepEqual(log, ['a-0', 'a-1', 'b-0']);
  await end('b-0');
  assert.deepEqual(log, ['a-0', 'a-1', 'b-0', 'b-1']);
});

test('a full queue refuses the newest entry of the largest share, never one of another project', async () => {
  const { ask, log, settle, metrics } = openQueue();
  void ask('running', by('a'));
  for (let n = 0; n < 4; n++) void ask(`a-${n}`, by('a'));
  await settle();
  void ask('a-4', by('a'));
  await settle();
  assert.deepEqual(log, ['running', 'a-4 TOO_MANY_REQUESTS']);
  void ask('b-0', by('b'));
  void ask('b-1', by('b'));
  await settle();
  assert.deepEqual(log.slice(2), ['a-3 TOO_MANY_REQUESTS', 'a-2 TOO_MANY_REQUESTS']);
  void ask('b-2', by('b'));
  void ask('a-5', by('a'));
  await settle();
  assert.deepEqual(log.slice(4), ['b-2 TOO_MANY_REQUESTS', 'a-5 TOO_MANY_REQUESTS']);
  assert.match(await metrics.metrics(), /^quartermaster_queue_waiting\{queue="extraction"\} 4$/m);
  assert.match(await metrics.metrics(), /^quartermaster_queue_running\{queue="extraction"\} 1$/m);
  assert.match(await metrics.metrics(), /^quartermaster_queue_refused_total\{queue="extraction"\} 5$/m);
});

test('within a project the newest entry of the key that waits most is refused', async () => {
  const { ask, log, settle } = openQueue();
  void ask('running', by('a', '1'));
  for (let n = 0; n < 4; n++) void ask(`1-${n}`, by('a', '1'));
  void ask('2-0', by('a', '2'));
  void ask('keyless', by('a', null));
  await settle();
  assert.deepEqual(log, ['running', '1-3 TOO_MANY_REQUESTS', '1-2 TOO_MANY_REQUESTS']);
});

test('accepted work is never refused and does not reduce the places of waiting callers', async () => {
  const { ask, log, settle } = openQueue({ waiting: 1 });
  void ask('running', by('a'));
  for (let n = 0; n < 5; n++) void ask(`record-${n}`, by('a', null), { isAccepted: true });
  void ask('waits', by('a'));
  void ask('refused', by('a'));
  await settle();
  assert.deepEqual(log, ['running', 'refused TOO_MANY_REQUESTS']);
});

test('one permit is kept for a key and one for a project that runs nothing', async () => {
  const { ask, log, settle } = openQueue({ keepsPlaces: true });
  void ask('a1', by('a', '1'));
  void ask('a1 again', by('a', '1'));
  void ask('a2', by('a', '2'));
  void ask('a3', by('a', '3'));
  void ask('b', by('b'));
  void ask('c', by('c'));
  await settle();
  assert.deepEqual(log, ['a1', 'a2', 'b']);
});

test('while the kept permits are in use, at most one entry of each other project starts before one of a project that runs nothing', async () => {
  const { ask, end, log, settle } = openQueue({ keepsPlaces: true, waiting: 100 });
  for (let n = 0; n < 20; n++) for (const project of ['a', 'b']) void ask(`${project}-${n}`, by(project));
  void ask('c', by('c'));
  void ask('d', by('d'));
  await settle();
  assert.deepEqual(log, ['a-0', 'b-0']);
  for (let ended = 0; !log.includes('d'); ended++) await end(log[ended] ?? assert.fail('nothing runs'));
  assert.deepEqual(log, ['a-0', 'b-0', 'a-1', 'b-1', 'c', 'd']);
});

test('a refused entry is counted, and `tryRun` and `tryEnter` return null for it', async () => {
  const metrics = createMetrics();
  const admission = createAdmission({ metrics });
  const queue = admission.queue('svg_pictures', { permits: 0, waiting: 0, keepsPlaces: false });
  assert.equal(await queue.tryRun(by('a'), async () => 'ran'), null);
  const places = admission.places('large_answers', { places: 1 });
  assert.notEqual(places.tryEnter(by('a')), null);
  assert.equal(places.tryEnter(by('b')), null);
  for (const name of ['svg_pictures', 'large_answers'])
    assert.match(await metrics.metrics(), new RegExp(`refused_total\\{queue="${name}"\\} 1`));
});

test('an entry whose signal aborts leaves, and its place is free', async () => {
  const { ask, end, log, settle } = openQueue({ waiting: 1 });
  const gone = new AbortController();
  void ask('running', by('a'));
  void ask('leaves', by('b'), { signal: gone.signal });
  gone.abort();
  void ask('late', by('b'), { signal: gone.signal });
  void ask('waits', by('b'));
  await settle();
  await end('running');
  assert.deepEqual(log, ['late left', 'running', 'leaves left', 'waits']);
});

test('a failed task frees its permit', async () => {
  const { queue } = openQueue();
  await assert.rejects(
    queue.run(by('a'), async () => {
      throw new Error('no');
    }),
    /no/,
  );
  assert.equal(await queue.run(by('a'), async () => 'yes'), 'yes');
});

function openPlaces(options: Partial<PlaceOptions> = {}) {
  const places = createAdmission().places('extraction', { places: 16, ...options });
  const fill = (owner: Owner, size?: number) => {
    const ends: Array<() => void> = [];
    try {
      while (ends.length < 1_000) ends.push(places.enter(owner, size));
    } catch {}
    return ends;
  };
  return { places, fill };
}

test('a project takes at most half of the free places, and a key half of those that its project may take', () => {
  const { places, fill } = openPlaces();
  assert.equal(fill(by('a', '1')).length, 4);
  assert.throws(() => places.enter(by('a', '1')), refused);
  assert.deepEqual(
    ['2', '3', '4'].map((key) => fill(by('a', key)).length),
    [2, 1, 1],
  );
  assert.throws(() => places.enter(by('a', '5')), refused);
  assert.deepEqual([fill(by('b', null)).length, fill(by('c')).length, fill(by('d')).length], [4, 1, 1]);
  assert.equal(places.held(by('a')).all, 14);
});

test('every place can be taken, and an ended entry frees its place once', () => {
  const { places, fill } = openPlaces();
  const ends = Array.from({ length: 16 }, (_, n) => fill(by(`project ${n}`))).flat();
  assert.equal(ends.length, 16);
  assert.throws(() => places.enter(by('late')), refused);
  ends[0]?.();
  ends[0]?.();
  places.enter(by('late'));
  assert.throws(() => places.enter(by('later')), refused);
});

test('a second unit has the same shares, and callers without a key are one project', () => {
  const { places, fill } = openPlaces({ sizes: 100 });
  assert.equal(fill(by(null, null), 20).length, 2);
  assert.throws(() => places.enter(by(null, null), 11), refused);
  places.enter(by(null, null), 10);
  assert.equal(fill(by('a'), 10).length, 1);
  places.enter(by('b'), 40);
  assert.throws(() => places.enter(by('c'), 1), refused);
});

test('a limit below the shares of a project or a key is exact', () => {
  const { fill } = openPlaces({ ofProject: 5, ofKey: 1 });
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((key) => fill(by('a', `${key}`)).length),
    [1, 1, 1, 1, 1, 0],
  );
  assert.equal(fill(by('b')).length, 1);
});

test('nodes share the bounds of the store in equal parts, and each has the bounds of a node', () => {
  const nodes = { files: 1, plugins: 1 };
  const admission = createAdmission({ nodes: (address) => nodes[address] });
  const held = (name: 'runs' | 'uploads' | 'input_files') => {
    const places = admission.places(name, { places: 20 });
    const leaves = Array.from({ length: 20 }, () => places.tryEnter(by('a'))).filter((leave) => leave !== null);
    for (const leave of leaves) leave();
    return leaves.length;
  };
  assert.deepEqual([held('runs'), held('uploads'), held('input_files')], [5, 5, 5]);
  nodes.plugins = 3;
  assert.deepEqual([held('runs'), held('uploads'), held('input_files')], [1, 5, 5]);
  nodes.plugins = 100;
  assert.deepEqual(held('runs'), 1, 'each node gives a key one place');
});
