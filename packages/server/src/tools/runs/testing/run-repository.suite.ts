import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { RunQuery } from '@quartermaster/contract';
import type { CompletedClaim } from '../../../platform/idempotency/idempotency-repository.ts';
import { createNewId, lowestIdAt } from '../../../platform/identifier.ts';
import { createPermissions, everyPermission } from '../../../platform/permissions.ts';
import { interruptedEnd } from '../run-outcome.ts';
import type { RunEnd, RunRepository, StoredRequest, StoredRun } from '../run-repository.ts';
import { describeOrphanedRuns } from './orphaned-runs.suite.ts';

const newId = createNewId();
let lastTime = 1_763_715_824_000;

const end: RunEnd = {
  outcome: 'succeeded',
  errorCode: null,
  upstreamStatus: null,
  durationMs: 1.234,
  phases: { queue_ms: 0, start_ms: 0.1, validate_ms: 0.2, plugin_ms: 0.3, upstream_ms: 0.4 },
  violations: 1,
  egress: [{ host: 'api.example.com', method: 'GET', status: 200, result: 'answered', bytes: 12, ms: 3.5 }],
  egressLeftOut: 0,
  error: null,
  input: { q: `quote ' " \\ \u0000 \ud800 ข้อความ 🐘` },
};
const failed: RunEnd = {
  ...end,
  outcome: 'failed',
  errorCode: 'PLUGIN_FAILED',
  error: { code: 'PLUGIN_FAILED', message: null },
};
const result = { status: 200 as const, data: { said: 'a\u0000b' }, run_id: 'x', duration_ms: 1 };

const storedRequest: StoredRequest = { text: '{"what":"was asked"}', isEncrypted: false, isRepeatable: true };
const me = 'me';

export interface OpenedRuns {
  readonly repository: RunRepository;
  /** Returns the statements executed since the last call. */
  readonly executed: () => string[];
  readonly release: () => Promise<void>;
}

/** Tests the behaviour of every run repository. */
export function describeRunRepository(name: string, open: () => Promise<OpenedRuns>): void {
  describe(`run repository: ${name}`, () => {
    let repository: RunRepository;
    let executed: () => string[];
    let release: () => Promise<void>;
    before(async () => {
      ({ repository, executed, release } = await open());
    });
    after(() => release());
    testKeeping(() => repository);
    testLists(() => repository);
    testLeases(() => repository);
    describeOrphanedRuns(
      () => repository,
      () => executed(),
      underWay,
    );
    testSweeping(() => repository);
  });
}

async function add(repository: RunRepository, runs: readonly StoredRun[]): Promise<void> {
  await repository.add(runs.map(repository.pack));
}

/** Creates runs with increasing times, because their ids sort by the time of creation. */
function newRun(projectId: string | null, over: Partial<StoredRun> = {}): StoredRun {
  lastTime += 10;
  const id = `${lowestIdAt('run', lastTime)}${newId('run').slice(-12)}`;
  const what = { bundleId: 'echo', pluginId: 'say', origin: 'execute', isolation: 'none' } as const;
  return { id, projectId, ...what, asynchronous: false, createdAt: lastTime, begunAt: null, lease: null, end, ...over };
}

function underWay(projectId: string | null, lease: { owner: string; until: number }): StoredRun {
  return newRun(projectId, { asynchronous: true, lease, end: null });
}

function testKeeping(repository: () => RunRepository): void {
  test('a run is stored unchanged, whatever characters it contains, and is found only by its own project', async () => {
    const project = newId('project');
    const runs = [
      newRun(project),
      newRun(project, { end: failed, pluginId: null, origin: 'verify' }),
      underWay(project, { owner: 'me', until: 5 }),
      newRun(null),
    ];
    await add(repository(), runs);
    for (const run of runs) {
      // JSON allows an unpaired surrogate, but UTF-8 text in a database may not, so it is stored as an escape.
      assert.deepEqual(await repository().find(run.projectId, run.id), run);
      assert.equal(await repository().find(newId('project'), run.id), undefined);
      assert.deepEqual(repository().unpack(repository().pack(run)), run);
    }
  });

  test('a thousand runs are added at once, and again without harm', async () => {
    const project = newId('project');
    const runs = Array.from({ length: 1000 }, () => newRun(project));
    await add(repository(), runs);
    await add(repository(), [...runs.slice(0, 3).map((run) => ({ ...run, end: failed })), newRun(project)]);
    const { items } = await repository().list(project, { limit: 100, outcome: 'failed' }, seen());
    assert.deepEqual(items, []);
    assert.deepEqual(await repository().find(project, runs[0]?.id ?? ''), runs[0]);
  });

  test('a run in progress ends once, with its result, which expires', async () => {
    for (const project of [newId('project'), null]) {
      const run = underWay(project, { owner: 'me', until: 5 });
      await add(repository(), [run]);
      assert.equal(await repository().findResult(project, run.id, 0), undefined);
      const stored = { result, expiresAt: 1000 };
      assert.equal(await repository().end(run, { owner: 'another', end: failed, result: null }), false);
      assert.equal(await repository().end(run, { owner: me, end, result: stored }), true);
      assert.equal(await repository().end(run, { owner: me, end: failed, result: null }), false);
      assert.deepEqual(await repository().find(project, run.id), { ...run, lease: null, end });
      assert.deepEqual(await repository().findResult(project, run.id, 999), stored);
      assert.equal(await repository().findResult(project, run.id, 1000), undefined);
      assert.equal(await repository().findResult(newId('project'), run.id, 0), undefined);
    }
  });
}

const seen = (recent: readonly StoredRun[] = [], permissions = everyPermission) => ({ recent, permissions });

function testLists(repository: () => RunRepository): void {
  const idsOf = async (project: string, query: RunQuery, recent: readonly StoredRun[] = []) => {
    const { items, hasMore } = await repository().list(project, query, seen(recent));
    return [items.map((run) => run.id), hasMore];
  };
  const countOf = async (project: string, query: RunQuery, recent: readonly StoredRun[] = []) => {
    const [all] = await idsOf(project, { ...query, limit: 100 }, recent);
    const { total } = await repository().list(project, { ...query, limit: 1, count: true }, seen(recent));
    assert.deepEqual(total, { count: (all as string[]).length, isExact: true });
    return total.count;
  };

  test('runs are listed newest first, page by page, and filtered', async () => {
    const project = newId('project');
    const runs = [
      newRun(project),
      newRun(project, { pluginId: 'other' }),
      newRun(project, { bundleId: 'second', end: failed }),
      underWay(project, { owner: 'me', until: 5 }),
    ];
    await add(repository(), [...runs, newRun(newId('project'))]);
    const [first, second, third, fourth] = runs.map((run) => run.id);
    assert.deepEqual(await idsOf(project, {}), [[fourth, third, second, first], false]);
    assert.deepEqual(await idsOf(project, { limit: 3 }), [[fourth, third, second], true]);
    assert.deepEqual(await idsOf(project, { limit: 2, after: third ?? '' }), [[second, first], false]);
    assert.deepEqual(await idsOf(project, { limit: 1, before: second ?? '' }), [[third], true]);
    assert.deepEqual(await idsOf(project, { limit: 2, order: 'asc' }), [[first, second], true]);
    assert.deepEqual(await idsOf(project, { bundle_id: 'echo', plugin_id: 'say' }), [[fourth, first], false]);
    assert.deepEqual(await idsOf(project, { bundle_id: 'second' }), [[third], false]);
    assert.deepEqual(await idsOf(project, { outcome: 'failed' }), [[third], false]);
    assert.deepEqual(await idsOf(project, { outcome: 'succeeded' }), [[second, first], false]);
    assert.deepEqual(await idsOf(project, { outcome: 'none' }), [[fourth], false]);
    assert.deepEqual(await idsOf(project, { since: runs[2]?.createdAt ?? 0 }), [[fourth, third], false]);
    assert.equal(await countOf(project, {}), 4);
    assert.equal(await countOf(project, { bundle_id: 'echo', plugin_id: 'say' }), 2);
    assert.equal(await countOf(project, { bundle_id: 'echo', outcome: 'succeeded' }), 2);
    for (const outcome of ['failed', 'succeeded', 'none'] as const) await countOf(project, { outcome });
    assert.equal(await countOf(project, { since: runs[2]?.createdAt ?? 0 }), 2);
  });

  test('a caller limited to tools sees and counts only their runs', async () => {
    const project = newId('project');
    const runs = [
      ...[newRun(project), newRun(project, { pluginId: 'other' }), newRun(project, { pluginId: null })],
      ...[newRun(project, { bundleId: 'second' }), newRun(project, { bundleId: 'third' })],
    ];
    await add(repository(), runs);
    for (const [tools, expected] of [
      [
        ['echo/say', 'second'],
        [3, 2, 0],
      ],
      [['third/other'], []],
    ] as const) {
      const permissions = createPermissions({ scopes: ['plugins'], collections: null, tools });
      const { items, total } = await repository().list(project, { count: true }, seen([], permissions));
      assert.deepEqual(
        items.map(({ id }) => id),
        expected.map((index) => runs[index]?.id),
      );
      assert.deepEqual(total, { count: expected.length, isExact: true });
    }
  });

  test('runs that are not stored yet are listed in order, each once', async () => {
    const project = newId('project');
    const runs = Array.from({ length: 6 }, (_, index) => newRun(project, index === 3 ? { end: failed } : {}));
    await add(
      repository(),
      runs.filter((_, index) => index % 2 === 0),
    );
    const ids = runs.map((run) => run.id).reverse();
    assert.deepEqual(await idsOf(project, {}, runs), [ids, false]);
    assert.deepEqual(await idsOf(project, { limit: 2 }, runs), [ids.slice(0, 2), true]);
    assert.deepEqual(await idsOf(project, { limit: 3, after: ids[1] ?? '' }, runs), [ids.slice(2, 5), true]);
    assert.deepEqual(await idsOf(project, { order: 'asc', limit: 2 }, runs), [ids.slice(-2).reverse(), true]);
    assert.deepEqual(await idsOf(project, { outcome: 'failed' }, runs), [[runs[3]?.id], false]);
    assert.equal(await countOf(project, {}, runs), 6);
    assert.equal(await countOf(project, { outcome: 'succeeded' }, runs), 5);
  });
}

function testLeases(repository: () => RunRepository): void {
  const accept = async (project: string, owner: string, request = storedRequest) => {
    const run = underWay(project, { owner, until: 100 });
    assert.deepEqual(await repository().accept([{ run, request, keyId: null, claim: null }], { owner, at: 0 }), [true]);
    return run;
  };
  const claimOrphaned = async (project: string, owner: string, now: number) => {
    const request = { now, limit: 1000, startable: 0, hasBundle: () => true, acceptedBefore: 0, except: [] };
    const claimed = await repository().claimOrphaned({ owner, until: now + 100 }, request);
    return claimed.filter(({ run }) => run.projectId === project);
  };

  test('a heartbeat renews the runs of its process; those without a heartbeat are claimed by one other process', async () => {
    const project = newId('project');
    const [owner, dead, other] = [newId('run'), newId('run'), newId('run')];
    const mine = await accept(project, owner);
    const theirs = await accept(project, dead, { text: 'encrypted', isEncrypted: true, isRepeatable: false });
    assert.deepEqual(
      (await repository().renew({ owner, at: 100 })).map(({ id }) => id),
      [mine.id],
    );
    assert.deepEqual(await claimOrphaned(project, dead, 150), []);
    const [claimedRun, ...more] = await claimOrphaned(project, owner, 150);
    assert.deepEqual(more, []);
    assert.deepEqual(claimedRun, {
      run: { ...theirs, lease: { owner, until: 250 } },
      request: { text: 'encrypted', isEncrypted: true, isRepeatable: false },
      ...{ keyId: null, attempts: 0, isCancelAsked: false, isOrphaned: true },
    });
    assert.deepEqual(await claimOrphaned(project, other, 150), []);
    const ended = { owner, end: interruptedEnd('may_have_acted', true), result: null };
    assert.equal(await repository().end(theirs, { ...ended, owner: dead }), false);
    assert.equal(await repository().end(theirs, ended), true);
    assert.deepEqual(await claimOrphaned(project, other, 1000), [
      { ...claimedRun, run: { ...mine, lease: { owner: other, until: 1100 } }, request: storedRequest },
    ]);
  });

  test('only the owner of a run may begin it; a begun and requeued run is marked and waits again', async () => {
    const project = newId('project');
    const [first, second] = [newId('run'), newId('run')];
    const run = await accept(project, first);
    const begin = { at: 7, until: 50 };
    assert.deepEqual(await repository().begin([run, run], { owner: second, ...begin }), [false, false]);
    assert.deepEqual(await repository().begin([run], { owner: first, ...begin }), [true]);
    assert.equal((await repository().find(project, run.id))?.begunAt, 7);
    const [claimedRun] = await claimOrphaned(project, second, 160);
    assert.deepEqual([claimedRun?.run.begunAt, claimedRun?.attempts], [7, 1]);
    assert.equal((await repository().find(project, run.id))?.begunAt, null);
    assert.deepEqual(await repository().begin([run], { owner: first, ...begin }), [false]);
    await repository().requeue([run], first);
    const held = await repository().renew({ owner: second, at: 170 });
    assert.ok(held.some(({ id }) => id === run.id));
    await repository().requeue([run], second);
    const [again] = await claimOrphaned(project, second, 160);
    assert.deepEqual([again?.run.begunAt, again?.attempts], [null, 1]);
  });

  test('a run and the answer of its idempotency key are stored together or not at all', async () => {
    const project = newId('project');
    const run = underWay(project, { owner: me, until: 100 });
    const lost: CompletedClaim = {
      ...{ projectId: project, operation: 'execute', key: 'k', callerId: '', heldUntil: 1 },
      ...{ fingerprint: 'f', answer: '{}', expiresAt: 2 },
    };
    const other = underWay(project, { owner: me, until: 100 });
    const wanted = [
      { run, keyId: null, request: storedRequest, claim: lost },
      { run: other, keyId: null, request: storedRequest, claim: null },
    ];
    const accepted = await repository().accept(wanted, { owner: me, at: 0 });
    assert.deepEqual(accepted, [false, true]);
    assert.equal(await repository().find(project, run.id), undefined);
    assert.deepEqual(await repository().find(project, other.id), other);
  });

  test('the owner of a run learns that it should be cancelled, and an ended run cannot be cancelled', async () => {
    const project = newId('project');
    const owner = newId('run');
    const [first, second] = [await accept(project, owner), await accept(project, owner)];
    const cancelAskedAt = async (at: number) =>
      (await repository().renew({ owner, at })).filter((run) => run.isCancelAsked).map((run) => run.id);
    assert.equal(await repository().askToCancel(project, first.id), true);
    assert.equal(await repository().askToCancel(newId('project'), second.id), false);
    assert.deepEqual(await cancelAskedAt(200), [first.id]);
    await repository().end(first, { owner, end: failed, result: null });
    assert.equal(await repository().askToCancel(project, first.id), false);
    assert.deepEqual(await cancelAskedAt(300), []);
    await repository().end(second, { owner, end: failed, result: null });
  });
}

function testSweeping(repository: () => RunRepository): void {
  test('the limit run_records keeps the newest runs of a project, none too old, and deletes nothing of one under way', async () => {
    const [busy, quiet] = [newId('project'), newId('project')];
    const old = [underWay(quiet, { owner: 'me', until: 5 }), newRun(quiet)];
    const runs = Array.from({ length: 7 }, () => newRun(busy));
    const young = newRun(quiet);
    await add(repository(), [...old, ...runs, young]);
    const remainingRuns = async (project: string) =>
      (await repository().list(project, {}, seen())).items.map((run) => run.id);
    const sweep = async (most: number) => {
      // Other tests have left runs as well. Only the remaining ones of this test count.
      while ((await repository().sweep({ notBefore: runs[0]?.createdAt ?? 0, most }, 100)) > 0);
    };
    await sweep(runs.length);
    assert.equal((await remainingRuns(busy)).length, runs.length);
    await sweep(4);
    assert.deepEqual(
      await remainingRuns(busy),
      runs
        .slice(-4)
        .reverse()
        .map((run) => run.id),
    );
    assert.deepEqual(await remainingRuns(quiet), [young.id, old[0]?.id]);
  });

  test('a project that stores many results deletes none of another project', async () => {
    const [small, large] = [newId('project'), newId('project')];
    const runs = [small, ...Array.from({ length: 5 }, () => large)].map((project) =>
      underWay(project, { owner: 'me', until: 5 }),
    );
    await add(repository(), runs);
    for (const [index, run] of runs.entries())
      await repository().end(run, { owner: me, end, result: { result, expiresAt: 10_000 + index } });
    const maxBytes = 3 * Buffer.byteLength(JSON.stringify(result));
    await repository().sweepResults(0, { maxBytes, limit: 100 });
    const found = await Promise.all(runs.map((run) => repository().findResult(run.projectId, run.id, 0)));
    assert.deepEqual(
      found.map((one) => one !== undefined),
      [true, false, false, false, true, true],
    );
    await repository().sweepResults(20_000, { maxBytes, limit: 100 });
  });

  test('the limit run_result_bytes deletes the oldest results beyond it, and those that are over; the runs stay', async () => {
    const project = newId('project');
    const runs = Array.from({ length: 4 }, () => underWay(project, { owner: 'me', until: 5 }));
    await add(repository(), runs);
    for (const [index, run] of runs.entries()) {
      await repository().end(run, { owner: me, end, result: { result, expiresAt: 10_000 + index } });
    }
    const storedRequest = async () => {
      const found = await Promise.all(runs.map((run) => repository().findResult(project, run.id, 0)));
      return found.map((one) => one !== undefined);
    };
    const bytes = Buffer.byteLength(JSON.stringify(result));
    await repository().sweepResults(10_000, { maxBytes: 3 * bytes, limit: 100 });
    assert.deepEqual(await storedRequest(), [false, true, true, true]);
    assert.equal(await repository().sweepResults(0, { maxBytes: 3 * bytes, limit: 100 }), 0);
    assert.equal(await repository().sweepResults(0, { maxBytes: 3 * bytes - 1, limit: 100 }), 1);
    assert.deepEqual(await storedRequest(), [false, false, true, true]);
    assert.notEqual(await repository().find(project, runs[0]?.id ?? ''), undefined);
    // The result of a run is deleted together with the run.
    while ((await repository().sweep({ notBefore: lastTime + 10, most: 100 }, 100)) > 0);
    assert.deepEqual(await storedRequest(), [false, false, false, false]);
  });
}
