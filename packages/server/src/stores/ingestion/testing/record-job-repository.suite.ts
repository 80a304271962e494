import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxCapacity } from '../../collections/collection-repository.ts';
import {
  addCollection,
  addRecord,
  claim,
  claimAt,
  collectionTests,
  contentsOf,
  foundBy,
  getRecord,
  keyOf,
  newChunk,
  newId,
  type OpenedRepositories,
  publish,
  recordOf,
  start,
  sweepAway,
} from '../../collections/testing/fixtures.suite.ts';

const published = { status: 'ready', numChunks: 1, report: { format: 'text' }, now: start + 5 } as const;
const failure = { code: 'file_damaged', message: 'It is broken.' };
const again = (now: number) => ({ limit: 2, leaseUntil: now + 30_000 });
const remake = (content: string) => ({
  source: { type: 'text', title: '', content, fileId: null, url: null, textSplitter: null } as const,
  deadlineAt: start + 1_000_000,
});

/** Tests the behaviour of every repository of record jobs. */
export function testRecordJobRepository(open: () => OpenedRepositories): void {
  testClaims(open);
  testPublication(open);
  testVoidClaims(open);
  testSweeping(open);
}

/** Creates a project with one collection and the given number of waiting records. */
async function queue(repositories: OpenedRepositories, records: number) {
  const collection = await addCollection(repositories);
  for (let n = 0; n < records; n++) await addRecord(repositories, collection);
  return collection;
}

function testClaims(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  it('each record goes to one of many concurrent claims, the oldest first', async (repositories) => {
    const { collection } = repositories;
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await addRecord(repositories, collection, { createdAt: start + n })).id);
    const first = await claim(repositories, start + 10);
    assert.equal(first.id, ids[0]);
    const jobs = await Promise.all(Array.from({ length: 8 }, () => repositories.jobs.claim(claimAt(start + 10))));
    const claimed = jobs.filter((job) => job !== undefined).map((job) => job.id);
    assert.deepEqual(claimed.sort(), ids.slice(1));
  });

  it('a claim returns the encrypted password until the work ends', async (repositories) => {
    const { jobs, records, collection } = repositories;
    const encryptedPassword = 'v1.key.nonce.text';
    const record = await addRecord(repositories, collection, { encryptedPassword });
    const job = await claim(repositories);
    assert.equal(job.encryptedPassword, encryptedPassword);
    await jobs.requeue(job, { runAfter: start, attempt: 1 });
    const again = await claim(repositories);
    assert.equal(again.encryptedPassword, encryptedPassword);
    await jobs.fail(again, { code: 'file_damaged', message: 'It is damaged.' }, { report: null, now: start });
    await records.change(keyOf(record), { remake: remake('new'), updatedAt: start });
    assert.equal((await claim(repositories)).encryptedPassword, null);
  });

  test('projects take turns, however many records one of them has queued', async () => {
    const repositories = open();
    const [many, two, one] = [await queue(repositories, 5), await queue(repositories, 2), await queue(repositories, 1)];
    const order: Array<string | undefined> = [];
    for (let n = 0; n < 8; n++) order.push((await claim(repositories)).projectId);
    // The first project depends on earlier claims.
    assert.deepEqual(new Set(order.slice(0, 3)), new Set([many.projectId, two.projectId, one.projectId]));
    assert.deepEqual(new Set(order.slice(3, 5)), new Set([many.projectId, two.projectId]));
    assert.deepEqual(order.slice(5), [many.projectId, many.projectId, many.projectId]);
    assert.equal(await repositories.jobs.claim(claimAt(start)), undefined);
    for (const collection of [many, two, one]) await sweepAway(repositories, collection);
  });

  it('the keys of a project take turns, however many records one of them has queued', async (repositories) => {
    const { collection } = repositories;
    const add = (keyId: string) => addRecord(repositories, collection, { keyId });
    for (let n = 0; n < 50; n++) await add('a');
    const next = async () => (await claim(repositories)).keyId;
    assert.deepEqual([await next(), await next()], ['a', 'a']);
    await add('b');
    await add('c');
    assert.deepEqual([await next(), await next(), await next()], ['b', 'c', 'a']);
    const other = await queue(repositories, 1);
    await add('b');
    // The other project has the next claim or the one after it, and the keys continue where they were.
    assert.deepEqual(
      [await next(), await next(), await next()].filter((keyId) => keyId !== ''),
      ['b', 'a'],
    );
    for (const each of [collection, other]) await sweepAway(repositories, each);
  });

  it('a record that is queued again belongs to the key of that request', async (repositories) => {
    const { collection } = repositories;
    const record = await addRecord(repositories, collection, { keyId: 'a' });
    await repositories.jobs.fail(await claim(repositories), failure, { report: null, now: start });
    const change = { remake: { ...remake('new'), keyId: 'b' }, updatedAt: start };
    assert.equal(await repositories.records.change(keyOf(record), change), true);
    assert.equal((await claim(repositories)).keyId, 'b');
  });

  it('within a project a small record comes before a large one that was queued first', async (repositories) => {
    const { collection } = repositories;
    const file = { type: 'file', fileId: newId('file'), content: '{"file_size":8000000}' } as const;
    const large = await addRecord(repositories, collection, file);
    const small = await addRecord(repositories, collection, { createdAt: start + 60_000 });
    const late = await addRecord(repositories, collection, { createdAt: start + 900_000 });
    const now = start + 1_000_000;
    const ids = [await claim(repositories, now), await claim(repositories, now), await claim(repositories, now)];
    assert.deepEqual(
      ids.map(({ id }) => id),
      [small.id, large.id, late.id],
    );
  });

  test('a reserved claim takes only small records of projects without a record in progress', async () => {
    const repositories = open();
    const { jobs } = repositories;
    const [busy, idle] = [await queue(repositories, 2), await addCollection(repositories)];
    const held = await claim(repositories);
    const reserved = (now = start) => jobs.claim(claimAt(now, { reserved: 'project' }));
    assert.equal(await reserved(), undefined, 'its project has one in work');
    await addRecord(repositories, idle, { content: 'x'.repeat(65_537) });
    assert.equal(await reserved(), undefined, 'it is large');
    const small = await addRecord(repositories, idle);
    assert.equal((await reserved())?.id, small.id);
    await jobs.requeue(held, { runAfter: start + 999_999, attempt: 1 });
    assert.equal((await reserved())?.projectId, busy.projectId);
    for (const collection of [busy, idle]) await sweepAway(repositories, collection);
  });

  it('a claim that is reserved for keys takes only small records of keys without a record in progress', async (repositories) => {
    const { jobs, collection } = repositories;
    for (const keyId of ['a', 'a']) await addRecord(repositories, collection, { keyId });
    await claim(repositories);
    const reserved = () => jobs.claim(claimAt(start, { reserved: 'key' }));
    assert.equal(await reserved(), undefined, 'its key has one in progress');
    await addRecord(repositories, collection, { keyId: 'b', content: 'x'.repeat(65_537) });
    assert.equal(await reserved(), undefined, 'it is large');
    const small = await addRecord(repositories, collection, { keyId: 'b' });
    assert.equal((await reserved())?.id, small.id);
  });

  it('a claim returns the work to do, and counts the attempts', async (repositories) => {
    const { collection } = repositories;
    const record = await addRecord(repositories, collection, { title: 'T', metadata: { a: 'b' } });
    const job = await claim(repositories, start, { token: 'xrun1' });
    const { id, projectId, collectionId, type, title, content, fileId, url, textSplitter } = record;
    const source = { type, title, content, fileId, url, textSplitter };
    const expected = {
      id,
      projectId,
      keyId: '',
      collectionId,
      ...source,
      metadata: '{"a":"b"}',
      token: 'xrun1',
      attempt: 1,
      generation: 0,
      chunking: {},
      chunkingVersion: 0,
      capacity: maxCapacity,
      hasLeftovers: false,
      isRechunked: false,
      checkpoint: null,
      encryptedPassword: null,
    };
    // Other tests leave records that wait.
    const { isLast: _, ...claimed } = job;
    assert.deepEqual(claimed, { ...expected, deadlineAt: record.deadlineAt, workedMs: 0 });
    await repositories.jobs.renew(job, { stage: 'parsing', percent: 1, leaseUntil: start + 30_000, workedMs: 700 });
    const second = await claim(repositories, start + 30_000);
    assert.equal(second.attempt, 2);
    assert.equal(second.workedMs, 700, 'all tries share one deadline');
    await repositories.jobs.requeue(second, { runAfter: start + 30_000, attempt: 1, workedMs: 900 });
    assert.equal((await claim(repositories, start + 30_000)).workedMs, 900);
  });

  it('a record is claimed again when its lease has expired, not earlier', async (repositories) => {
    const { jobs, collection } = repositories;
    const record = await addRecord(repositories, collection);
    const job = await claim(repositories, start);
    assert.equal(await jobs.claim(claimAt(start + 29_999)), undefined);
    const progress = { stage: 'parsing', percent: 40, leaseUntil: start + 60_000, workedMs: 0 } as const;
    assert.equal(await jobs.renew(job, progress), true);
    assert.deepEqual(
      [(await getRecord(repositories, record)).stage, (await getRecord(repositories, record)).percent],
      ['parsing', 40],
    );
    assert.equal(await jobs.claim(claimAt(start + 59_999)), undefined);
    assert.equal((await jobs.claim(claimAt(start + 60_000)))?.id, record.id);
    assert.equal(await jobs.renew(job, progress), false);
  });

  it('each written batch of chunks or rows extends the lease, because a renewal skips a locked record', async (repositories) => {
    const { jobs, collection } = repositories;
    await addRecord(repositories, collection);
    const job = await claim(repositories);
    assert.equal(await jobs.addChunks(job, [newChunk('apple')], start + 60_000), true);
    assert.equal(await jobs.claim(claimAt(start + 59_999)), undefined);
    assert.equal(await jobs.addRows(job, [], start + 90_000), true);
    assert.equal(await jobs.claim(claimAt(start + 89_999)), undefined);
    const { attempt, token } = await claim(repositories, start + 90_000);
    assert.equal(attempt, 2);
    assert.notEqual(token, job.token);
    assert.equal(await jobs.addChunks(job, [newChunk('late')], start + 120_000), false);
  });

  it('when every lease is ended, claimed records can be claimed immediately, and their attempts count', async (repositories) => {
    const { jobs, collection } = repositories;
    await addRecord(repositories, collection);
    await claim(repositories);
    await jobs.endLeases();
    assert.equal((await jobs.claim(claimAt(start)))?.attempt, 2);
  });

  it('a requeued record waits until its time', async (repositories) => {
    const { jobs, collection } = repositories;
    const record = await addRecord(repositories, collection);
    await jobs.requeue(await claim(repositories), { runAfter: start + 500, attempt: 1 });
    assert.equal((await getRecord(repositories, record)).stage, 'queued');
    assert.equal(await jobs.claim(claimAt(start + 499)), undefined);
    assert.equal((await jobs.claim(claimAt(start + 500)))?.attempt, 2);
  });

  it('a lease further in the future than a lease can be is void, and so is a back-off', async (repositories) => {
    const { jobs, collection } = repositories;
    const record = await addRecord(repositories, collection);
    const day = 24 * 3_600_000;
    const ahead = await claim(repositories, start + day);
    // A lease within twice its length is valid, because the clocks of two processes may differ slightly.
    assert.equal(await jobs.claim(claimAt(start + day - 29_000)), undefined);
    assert.equal((await jobs.claim(claimAt(start)))?.id, record.id);
    assert.equal(await jobs.renew(ahead, { stage: 'parsing', percent: 1, leaseUntil: 1, workedMs: 0 }), false);

    const another = await addCollection(repositories);
    const next = await addRecord(repositories, another, { createdAt: start + day });
    assert.equal((await jobs.claim(claimAt(start)))?.id, next.id);
    await sweepAway(repositories, another);
  });
}

function testPublication(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  it('chunks are visible and found from the publication on, not before', async (repositories) => {
    const { collection } = repositories;
    const record = await addRecord(repositories, collection);
    const job = await claim(repositories);
    await repositories.jobs.addChunks(job, [
      newChunk('red apple', { ordinal: 0 }),
      newChunk('green pear', { ordinal: 1 }),
    ]);
    await repositories.jobs.addChunks(job, [newChunk('blue plum', { ordinal: 2 })]);
    assert.deepEqual(await contentsOf(repositories, collection), []);
    assert.deepEqual(await foundBy(repositories, collection, ['pear']), []);
    const publication = await repositories.jobs.publish(job, { ...published, numChunks: 3, status: 'partial' });
    assert.deepEqual(publication, { kind: 'published', sweep: false });
    assert.deepEqual(await contentsOf(repositories, collection, record.id), ['red apple', 'green pear', 'blue plum']);
    assert.deepEqual(await foundBy(repositories, collection, ['pear']), ['green pear']);
    const { status, numChunks, report, error } = await getRecord(repositories, record);
    assert.deepEqual(
      { status, numChunks, report, error },
      { status: 'partial', numChunks: 3, report: published.report, error: null },
    );
    assert.equal(await repositories.jobs.claim(claimAt(start + 10_000_000)), undefined);
    assert.equal(await repositories.jobs.claim(claimAt(start + 10_000_000, { kind: 'sweep' })), undefined);
  });

  it('a record that is created again shows its old chunks until the publication, then only the new ones', async (repositories) => {
    const { collection } = repositories;
    const record = await recordOf(repositories, collection, ['old apple', 'old pear']);
    await repositories.records.change(keyOf(record), { remake: remake('new'), updatedAt: start });
    assert.equal((await getRecord(repositories, record)).status, 'creating');
    const job = await claim(repositories);
    await repositories.jobs.addChunks(job, [newChunk('new apple')]);
    assert.deepEqual(await contentsOf(repositories, collection), ['old apple', 'old pear']);
    assert.deepEqual(await repositories.jobs.publish(job, published), { kind: 'published', sweep: true });
    assert.deepEqual(await contentsOf(repositories, collection), ['new apple']);
    assert.deepEqual(await foundBy(repositories, collection, ['apple', 'pear']), ['new apple']);
  });

  it('the next claim knows the chunks of the earlier one, until the publication or another source', async (repositories) => {
    const { jobs, records, collection } = repositories;
    const record = await addRecord(repositories, collection);
    const job = await claim(repositories);
    await jobs.addChunks(job, [newChunk('apple')]);
    assert.equal(await jobs.saveCheckpoint(job, { ...published, since: start }), true);
    const second = await claim(repositories, start + 30_000);
    assert.deepEqual(second.checkpoint, { ...published, since: start });
    assert.equal(await jobs.saveCheckpoint(job, published), false, 'the claim is lost');
    await records.change(keyOf(record), { remake: remake('new'), updatedAt: start });
    const third = await claim(repositories, start + 30_000);
    assert.equal(third.checkpoint, null);
    await jobs.saveCheckpoint(third, published);
    await jobs.publish(third, published);
    await records.change(keyOf(record), { remake: remake('newer'), updatedAt: start });
    assert.equal((await claim(repositories, start + 30_000)).checkpoint, null);
  });

  it('a cancelled record keeps its old chunks, and its new ones are swept', async (repositories) => {
    const { jobs, records, collection } = repositories;
    const record = await recordOf(repositories, collection, ['old']);
    const end = { failure: { code: 'cancelled', message: 'So it was.' }, now: start + 7 };
    assert.equal(await records.cancel(keyOf(record), end), false, 'it is made already');
    await records.change(keyOf(record), { remake: remake('new'), updatedAt: start });
    const job = await claim(repositories);
    await jobs.addChunks(job, [newChunk('half')]);
    assert.equal(await records.cancel({ ...keyOf(record), projectId: 'proj00000000000000000000' }, end), false);
    assert.equal(await records.cancel(keyOf(record), end), true);
    const { status, error, updatedAt } = await getRecord(repositories, record);
    assert.deepEqual([status, error, updatedAt], ['error', end.failure, start + 7]);
    assert.equal(await jobs.addChunks(job, [newChunk('late')]), false);
    assert.equal(await jobs.claim(claimAt(start + 10_000_000)), undefined);
    const sweeping = await claim(repositories, start + 10, { kind: 'sweep' });
    assert.equal(await jobs.sweep(sweeping, again(start + 10)), 'done');
    assert.deepEqual(await contentsOf(repositories, collection), ['old']);
  });

  it('a record that waits for its next attempt can be started immediately, another one cannot', async (repositories) => {
    const { jobs, records, collection } = repositories;
    const record = await addRecord(repositories, collection);
    await jobs.requeue(await claim(repositories), { runAfter: start + 5000, attempt: 1 });
    await records.retryNow({ ...keyOf(record), projectId: 'proj00000000000000000000' }, start + 1);
    assert.equal(await jobs.claim(claimAt(start + 1)), undefined);
    await records.retryNow(keyOf(record), start + 1);
    assert.equal((await jobs.claim(claimAt(start + 1)))?.attempt, 2);
  });

  it('a failed record reports the reason and keeps its old chunks', async (repositories) => {
    const { collection } = repositories;
    const record = await recordOf(repositories, collection, ['old']);
    await repositories.records.change(keyOf(record), { remake: remake('new'), updatedAt: start });
    const job = await claim(repositories);
    await repositories.jobs.addChunks(job, [newChunk('half')]);
    assert.equal(await repositories.jobs.fail(job, failure, { report: { pages: 3 }, now: start + 6 }), true);
    const { status, error, report, updatedAt } = await getRecord(repositories, record);
    assert.deepEqual(
      { status, error, report, updatedAt },
      { status: 'error', error: failure, report: { pages: 3 }, updatedAt: start + 6 },
    );
    assert.deepEqual(await contentsOf(repositories, collection), ['old']);
  });

  test('a record never exceeds the capacity of its collection, even when several are created concurrently', async () => {
    const repositories = open();
    const { jobs, chunks } = repositories;
    const collection = await addCollection(repositories, { capacity: 5 });
    await chunks.add(collection.projectId, collection.id, newChunk('direct'));
    const replaced = await recordOf(repositories, collection, ['a', 'b']);
    for (let n = 0; n < 3; n++) await addRecord(repositories, collection);
    const held = [await claim(repositories), await claim(repositories), await claim(repositories)];
    for (const job of held) {
      assert.equal(await jobs.remainingCapacity(job), 2);
      await jobs.addChunks(job, [newChunk('c'), newChunk('d')]);
    }
    const publications = await Promise.all(held.map((job) => jobs.publish(job, { ...published, numChunks: 2 })));
    assert.deepEqual(publications.map(({ kind }) => kind).sort(), ['full', 'full', 'published']);
    await repositories.records.change(keyOf(replaced), { remake: remake('x'), updatedAt: start });
    assert.equal(await jobs.remainingCapacity(await claim(repositories)), 2, 'what is replaced does not count');
    await sweepAway(repositories, collection);
  });
}

function testVoidClaims(open: () => OpenedRepositories): void {
  const ways = {
    'claimed by another': async (repositories: OpenedRepositories) => {
      await claim(repositories, start + 30_000);
    },
    remade: async ({ records }: OpenedRepositories, key: ReturnType<typeof keyOf>) => {
      await records.change(key, { remake: remake('x'), updatedAt: start });
    },
    deleted: async ({ records }: OpenedRepositories, key: ReturnType<typeof keyOf>) => {
      await records.markDeleting(key, start);
    },
  };
  for (const [what, way] of Object.entries(ways)) {
    test(`an earlier worker of a record that was ${what} has no effect any more`, async () => {
      const repositories = open();
      const { jobs } = repositories;
      const collection = await addCollection(repositories);
      const record = await addRecord(repositories, collection);
      const job = await claim(repositories);
      await way(repositories, keyOf(record));
      const after = await repositories.records.find(keyOf(record));
      const rows = await repositories.countRows(collection.id);
      assert.equal(await jobs.addChunks(job, [newChunk('late')]), false);
      assert.equal(await jobs.renew(job, { stage: 'parsing', percent: 1, leaseUntil: start, workedMs: 0 }), false);
      assert.deepEqual(await jobs.publish(job, published), { kind: 'lost' });
      assert.equal(await jobs.fail(job, failure, { report: null, now: start }), false);
      assert.equal(await jobs.sweep(job, again(start)), 'lost');
      await jobs.requeue(job, { runAfter: start, attempt: 0 });
      assert.deepEqual(await repositories.records.find(keyOf(record)), after);
      assert.equal(await repositories.countRows(collection.id), rows);
      await sweepAway(repositories, collection);
    });
  }
}

function testSweeping(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  it('the chunks that a crash left of an unfinished attempt are removed before the next one starts', async (repositories) => {
    const { jobs, collection } = repositories;
    const record = await addRecord(repositories, collection);
    await jobs.addChunks(await claim(repositories), [newChunk('a'), newChunk('b'), newChunk('c')]);
    const job = await claim(repositories, start + 30_000);
    assert.equal(await jobs.sweep(job, again(start)), 'more');
    assert.equal(await jobs.sweep(job, again(start)), 'done');
    await publish(repositories, job, ['a', 'b', 'c']);
    assert.deepEqual(await contentsOf(repositories, collection, record.id), ['a', 'b', 'c']);
    assert.deepEqual(await foundBy(repositories, collection, ['b']), ['b']);
    assert.equal(await repositories.countRows(collection.id), 5);
  });

  it('replaced chunks are swept with their words, and the visible ones stay', async (repositories) => {
    const { jobs, collection } = repositories;
    const record = await recordOf(repositories, collection, ['a', 'b', 'c']);
    await repositories.records.change(keyOf(record), { remake: remake('new'), updatedAt: start });
    await publish(repositories, await claim(repositories), ['d']);
    const job = await claim(repositories, start + 5, { kind: 'sweep' });
    assert.equal(job.id, record.id);
    assert.equal(await jobs.sweep(job, again(start)), 'more');
    assert.equal(await jobs.sweep(job, again(start)), 'done');
    assert.deepEqual(await contentsOf(repositories, collection), ['d']);
    assert.equal(await repositories.countRows(collection.id), 3);
    assert.equal((await getRecord(repositories, record)).status, 'ready');
    assert.equal(await jobs.claim(claimAt(start + 100_000, { kind: 'sweep' })), undefined);
  });

  it('a deleted record is swept completely, with its unfinished chunks', async (repositories) => {
    const { jobs, collection } = repositories;
    const record = await recordOf(repositories, collection, ['a', 'b']);
    await repositories.records.change(keyOf(record), { remake: remake('new'), updatedAt: start });
    await jobs.addChunks(await claim(repositories), [newChunk('c')]);
    await repositories.records.markDeleting(keyOf(record), start);
    assert.deepEqual(await contentsOf(repositories, collection), []);
    assert.deepEqual(await foundBy(repositories, collection, ['a']), []);
    const job = await claim(repositories, start, { kind: 'sweep' });
    assert.equal(await jobs.sweep(job, again(start)), 'more');
    assert.equal(await jobs.sweep(job, again(start)), 'done');
    assert.equal(await repositories.countRows(collection.id), 1, 'the collection alone is left');
  });
}
