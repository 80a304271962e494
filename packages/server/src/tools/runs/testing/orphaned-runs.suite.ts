import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { createRecovery } from '../recover-runs.ts';
import { createRunQueue } from '../run-queue.ts';
import type { OrphanClaim, RunLease, RunRepository, StoredRun } from '../run-repository.ts';

const newId = createNewId();
/** Milliseconds of a lease. */
const length = 100;

/** Tests how processes hold their runs, and how they recover those of ended processes. */
export function describeOrphanedRuns(
  repository: () => RunRepository,
  executed: () => string[],
  underWay: (projectId: string, lease: RunLease) => StoredRun,
): void {
  /** Accepts runs of one bundle. */
  async function accept(
    owner: string,
    bundleId: string,
    {
      count = 1,
      at = 0,
      isRepeatable = true,
      keyId = null as string | null,
      projectId = newId('project'),
      text = '{}' as string | null,
    } = {},
  ) {
    const runs = Array.from({ length: count }, () => ({
      ...underWay(projectId, { owner, until: at + length }),
      bundleId,
    }));
    const accepted = runs.map((run) => ({
      run,
      request: { text, isEncrypted: false, isRepeatable },
      ...{ keyId, claim: null },
    }));
    await repository().accept(accepted, { owner, at });
    return { projectId, ids: runs.map(({ id }) => id) };
  }

  /** Claims orphaned runs as the process `owner`, which has only this bundle. Returns the ids of the bundle's runs. */
  async function claimOrphaned(owner: string, now: number, bundle: string, more: Partial<OrphanClaim> = {}) {
    const wanted = {
      now,
      limit: 1000,
      startable: 0,
      hasBundle: (id: string) => id === bundle,
      acceptedBefore: 0,
      except: [],
      ...more,
    };
    const claimed = await repository().claimOrphaned({ owner, until: now + length }, wanted);
    return claimed.filter(({ run }) => run.bundleId === bundle).map(({ run }) => run.id);
  }

  const names = () => ({ owner: newId('run'), other: newId('run'), bundle: newId('run') });
  const hasBundle = (id: string) => id === 'another';

  test('a process without the bundle leaves an orphaned run to one that has it', async () => {
    const { owner, other, bundle } = names();
    const { ids } = await accept(owner, bundle);
    assert.deepEqual(await claimOrphaned(other, 200, bundle, { hasBundle }), []);
    assert.deepEqual(await claimOrphaned(other, 200, bundle), ids);
  });

  test('a process without the bundle takes an orphaned run that was cancelled or accepted too long ago', async () => {
    const { owner, other, bundle } = names();
    const { projectId, ids } = await accept(owner, bundle, { count: 2 });
    const [cancelled = '', late = ''] = ids;
    assert.equal(await repository().askToCancel(projectId, cancelled), true);
    assert.deepEqual(await claimOrphaned(other, 200, bundle, { hasBundle }), [cancelled]);
    const { createdAt = 0 } = (await repository().find(projectId, late)) ?? {};
    assert.deepEqual(await claimOrphaned(other, 200, bundle, { hasBundle, acceptedBefore: createdAt - 1 }), []);
    assert.deepEqual(await claimOrphaned(other, 200, bundle, { hasBundle, acceptedBefore: createdAt }), [late]);
  });

  test('projects alternate when orphaned runs are claimed, and so do the keys of a project', async () => {
    const { owner, other, bundle } = names();
    const many = await accept(owner, bundle, { count: 40, keyId: '1' });
    const [busy = '', ...rest] = many.ids;
    const second = await accept(owner, bundle, { count: 2, keyId: '2', projectId: many.projectId });
    const few = await accept(owner, bundle, { count: 2 });
    const claimed = await claimOrphaned(other, 200, bundle, { limit: 6 });
    assert.deepEqual(claimed.toSorted(), [busy, rest[0], ...second.ids.slice(0, 2), ...few.ids].toSorted());
    const next = await claimOrphaned(other, 200, bundle, { limit: 1 });
    assert.deepEqual(next, rest.slice(1, 2));
  });

  test('runs of owners without a place are not claimed, but those that a client has cancelled are', async () => {
    const { owner, other, bundle } = names();
    const { projectId, ids } = await accept(owner, bundle, { count: 2, keyId: '1' });
    const calm = await accept(owner, bundle, { keyId: '2', projectId });
    const keyless = await accept(owner, bundle, { projectId });
    await repository().askToCancel(projectId, ids[0] ?? '');
    const claimed = await claimOrphaned(other, 200, bundle, { except: [{ projectId, keyId: '1' }] });
    assert.deepEqual(claimed.toSorted(), [ids[0] ?? '', ...calm.ids, ...keyless.ids].toSorted());
  });

  test('two processes that recover at the same time claim each run once', async () => {
    const { owner, bundle } = names();
    const { ids } = await accept(owner, bundle, { count: 40 });
    const processes = Array.from({ length: 4 }, () => newId('run'));
    const claims = await Promise.all(processes.map((process) => claimOrphaned(process, 200, bundle, { limit: 10 })));
    assert.deepEqual(claims.flat().sort(), ids);
  });

  test('one heartbeat renews all runs of a process', async () => {
    const { owner, other, bundle } = names();
    const { ids } = await accept(owner, bundle, { count: 50 });
    executed();
    assert.equal((await repository().renew({ owner, at: 90 })).length, 50);
    const statements = executed();
    assert.equal(statements.length, 2, statements.join());
    assert.deepEqual(
      statements.filter((text) => !text.startsWith('select')).map((text) => text.split(' (')[0]),
      ['insert into "process"'],
    );
    assert.deepEqual(await claimOrphaned(other, 189, bundle), []);
    assert.deepEqual((await claimOrphaned(other, 190, bundle)).sort(), ids);
    executed();
    assert.deepEqual(await repository().renew({ owner, at: 200 }), []);
    assert.equal(executed().length, 1, 'a process without runs writes nothing');
  });

  test('a process that begins or claims runs keeps all its runs', async () => {
    const { owner, other, bundle } = names();
    const { projectId, ids } = await accept(owner, bundle, { count: 2 });
    const key = { projectId, id: ids[0] ?? '' };
    assert.deepEqual(await repository().begin([key], { owner, at: 150, until: 250 }), [true]);
    assert.deepEqual(await claimOrphaned(other, 240, bundle), []);
    assert.deepEqual(await claimOrphaned(other, 250, bundle), ids);
    assert.deepEqual(await claimOrphaned(owner, 340, bundle), []);
    assert.deepEqual(await claimOrphaned(owner, 350, bundle), ids);
  });

  test('a heartbeat in the future is void', async () => {
    const { owner, other, bundle } = names();
    const { ids } = await accept(owner, bundle, { at: 1000 });
    assert.deepEqual(await claimOrphaned(other, 900, bundle), [], 'clocks differ by less than a lease');
    assert.deepEqual(await claimOrphaned(other, 899, bundle), ids);
  });

  test('without a heartbeat the lease of the run counts', async () => {
    const { owner, other, bundle } = names();
    const at = 200_000_000;
    const { ids } = await accept(owner, bundle, { count: 2, at });
    // A day later the heartbeat is deleted, and the lease remains.
    await repository().sweepProcesses(at + 90_000_000);
    assert.deepEqual(await claimOrphaned(other, at + length - 1, bundle), []);
    assert.deepEqual(await claimOrphaned(other, at - length, bundle), []);
    assert.deepEqual(await claimOrphaned(other, at - length - 1, bundle, { limit: 1 }), ids.slice(0, 1), 'void');
    assert.deepEqual(await claimOrphaned(other, at + length, bundle), ids.slice(1));
  });

  /** Recovers runs by a process that prepares none of them, and so ends them. */
  function recover(owner: string, now: number, hasBundle: (id: string) => boolean): Promise<void> {
    const bounds = { maxRunning: 1, maxAccepted: 1000, maxSize: 1, admission: createAdmission() };
    return createRecovery({
      repository: repository(),
      queue: createRunQueue(bounds, () => assert.fail('a run was started')),
      prepare: () => assert.fail('a run was prepared'),
      resolveCredentials: () => assert.fail('credentials were asked for'),
      executor: { readFiles: (_request, _caller, work) => work(new Map()) },
      encrypter: null,
      lease: () => ({ owner, until: now + length }),
      clock: { now: () => now },
      logger: createLogger('silent'),
      ...{ owner, hasBundle, maxOrphanedMs: 1000 },
    })();
  }

  test('a run of a plugin that writes is not repeated after the process that recovered it was killed', async () => {
    const { owner, other, bundle } = names();
    const { projectId, ids } = await accept(owner, bundle, { isRepeatable: false });
    const key = { projectId, id: ids[0] ?? '' };
    await repository().begin([key], { owner, at: 10, until: 110 });
    assert.deepEqual(await claimOrphaned(other, 200, bundle), ids);
    await recover(newId('run'), 300, (id) => id === bundle);
    const run = await repository().find(projectId, key.id);
    assert.deepEqual(run?.end?.error?.details, [{ reason: 'may_have_acted', has_begun: true }]);
  });

  test('an orphaned run whose bundle no process has ends when it has waited too long', async () => {
    const { owner, bundle } = names();
    const { projectId, ids } = await accept(owner, bundle);
    const find = async () => await repository().find(projectId, ids[0] ?? '');
    const { createdAt = 0 } = (await find()) ?? {};
    await recover(newId('run'), createdAt + 999, hasBundle);
    assert.equal((await find())?.end, null);
    await recover(newId('run'), createdAt + 1000, hasBundle);
    assert.deepEqual((await find())?.end?.error?.details, [{ reason: 'bundle_missing', has_begun: false }]);
  });

  /** Later than all other times here. */
  const late = 3_000_000_000_000;

  test('an idle process takes runs that wait at a process that is alive, which then cannot begin them', async () => {
    const { owner, other, bundle } = names();
    const { projectId, ids } = await accept(owner, bundle, { count: 4, at: late });
    const [begun = '', ...waiting] = ids;
    const at = late + 1000;
    const begin = (id: string, by: string) =>
      repository().begin([{ projectId, id }], { owner: by, at, until: at + length });
    const take = (now: number, more: Partial<OrphanClaim>) => claimOrphaned(other, now, bundle, more);
    await repository().renew({ owner, at });
    assert.deepEqual(await take(at, {}), [], 'a busy process takes none');
    assert.deepEqual(await begin(begun, owner), [true]);
    assert.deepEqual(await take(at - 1, { startable: 9 }), [], 'its process begins a run within a second');
    assert.deepEqual(await take(at, { startable: 9, hasBundle }), []);
    assert.deepEqual(await take(at, { startable: 2 }), waiting.slice(0, 2));
    assert.deepEqual(await begin(waiting[0] ?? '', owner), [false]);
    assert.deepEqual(await begin(waiting[0] ?? '', other), [true]);
    const held = (await repository().listHeld(owner)).map(({ id }) => id);
    assert.deepEqual(held.sort(), [begun, waiting[2]]);
  });

  test('a run whose request is not stored stays at the process that has accepted it', async () => {
    const { owner, other, bundle } = names();
    const at = 2 * late;
    await accept(owner, bundle, { at, text: null });
    await repository().renew({ owner, at: at + 1000 });
    const claimed = [1, 2].map(() => claimOrphaned(other, at + 1000, bundle, { startable: 9 }));
    assert.deepEqual(await Promise.all(claimed), [[], []]);
  });
}
