import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Findings } from '../history/findings.ts';
import type { Operation } from '../history/history.ts';
import { checkStore } from '../power/check-crash-state.ts';
import type { PartOptions, PartReport, Site } from '../report.ts';
import { mapWithConcurrency } from '../support/endings.ts';
import { casesOf, describeCase, type FaultCase, type FaultSite, type Phase, phases, sitesOf } from './fault-cases.ts';
import { type FaultedStore, faultClasses, openFaultedStore } from './faulted-store.ts';

/** Cases that one store undergoes before it is checked completely and replaced. */
const casesPerStore = 16;

/** Makes every file operation of the workloads fail, once and persistently. */
export async function storeFaults(options: PartOptions): Promise<PartReport> {
  const random = options.random.fork('faults, SQLite');
  const sites = await census(options);
  options.log(`faults: ${sites.length} call sites`);
  const cases = casesOf(sites, random, options.slice);
  const faults = new Map<FaultSite, number>();
  const batches = Array.from({ length: Math.ceil(cases.length / casesPerStore) }, (_, index) =>
    cases.slice(index * casesPerStore, (index + 1) * casesPerStore),
  );
  let [done, hits, ends] = [0, 0, 0];
  await mapWithConcurrency(batches, options.width, async (batch, index) => {
    const draw = random.fork(`store ${index}`);
    const store = await openFaultedStore({ ...options, name: `faults-${index}`, random: draw });
    try {
      for (const one of batch) {
        const outcome = await exercise(store, one, options);
        done += 1;
        if (outcome.hits > 0) {
          hits += outcome.hits;
          faults.set(one.site, (faults.get(one.site) ?? 0) + 1);
        }
        if (outcome.ended) ends += 1;
      }
    } finally {
      await store.close(true);
    }
    options.log(`faults: ${done} of ${cases.length} cases`);
  });
  // A call that occurs once in the life of a store or of a process needs a fresh store.
  const missed = cases.filter(({ site }) => !faults.has(site));
  await mapWithConcurrency(missed, options.width, async (one, index) => {
    const store = await openFaultedStore({ ...options, name: `fresh-${index}`, random: random.fork(`fresh ${index}`) });
    const outcome = await exercise(store, { ...one, fromStart: true }, options).finally(() => store.close(true));
    if (outcome.hits === 0) return;
    hits += outcome.hits;
    faults.set(one.site, (faults.get(one.site) ?? 0) + 1);
  });
  const described = sites.map((site): Site => ({ ...site, faults: faults.get(site) ?? 0 }));
  return {
    name: 'Faults of the disk, SQLite',
    cases: done,
    figures: { cases: done, 'failed calls': hits, 'exits with code 70': ends },
    sites: described,
  };
}

/** Returns the calls that each phase makes when nothing fails. */
async function census(options: PartOptions): Promise<FaultSite[]> {
  const random = options.random.fork('census');
  const store = await openFaultedStore({ ...options, name: 'census', random });
  const sites: FaultSite[] = [];
  for (const phase of phases) {
    const before = store.shim.control.counts();
    await act(store, phase);
    sites.push(...sitesOf(phase, { before, after: store.shim.control.counts() }, faultClasses));
  }
  await store.restart();
  await store.close(false);
  // A call belongs to the first phase in which it occurs.
  return sites.filter(
    (site, index) =>
      sites.findIndex(({ call, fileClass }) => call === site.call && fileClass === site.fileClass) === index,
  );
}

/** Runs one phase. Returns the exit code of a backup. */
async function act(store: FaultedStore, phase: Phase): Promise<number | undefined> {
  if (phase === 'backup') return await store.backUp();
  if (phase === 'use') await store.use();
  else await store.service.stop();
  return undefined;
}

interface Outcome {
  readonly hits: number;
  /** Whether the process exited with the code for a database that it cannot trust. */
  readonly ended: boolean;
}

type Trial = FaultCase & { readonly fromStart?: boolean };

async function exercise(store: FaultedStore, one: Trial, options: PartOptions): Promise<Outcome> {
  const { control } = store.shim;
  const context = describeCase(one);
  const findings = options.findings.after(context);
  const firstOperation = store.history.operations.length;
  control.setFault(one.fault);
  // A start may be refused while the disk fails.
  const runs = !one.fromStart || (await store.restart().catch(() => false));
  const backupCode = runs ? await act(store, one.site.phase) : undefined;
  const hits = control.faultHits();
  const code = store.service.process.exitCode;
  const ended = runs && code !== null && one.site.phase !== 'stop';
  if (ended && code !== 70) findings.add('unavailable', `the service ended with ${code}`);
  const restart = !runs || one.kill || ended || one.site.phase === 'stop';
  // When the process is killed, the fault lasts until it is dead.
  if (restart && !ended) await store.service.kill();
  control.setFault(undefined);
  if (restart) await store.restart().catch((error) => findings.add('unavailable', String(error)));
  if (one.site.phase === 'backup') await checkBackup(store, backupCode === 0, findings);
  checkRefusals(store.history.operations.slice(firstOperation), one, findings);
  await store.check(context);
  return { hits, ended: ended && code === 70 };
}

/**
 * Checks that a backup reported as complete is whole. Any other backup leaves no folder, and the next one succeeds in
 * the same place.
 * @param isDone whether the command reported success although calls failed
 */
async function checkBackup(store: FaultedStore, isDone: boolean, findings: Findings): Promise<void> {
  const folder = join(store.service.folder, '..', 'backup');
  if (!isDone && existsSync(folder)) findings.add('inconsistent', 'a backup that failed has left its folder');
  const code = isDone ? 0 : await store.backUp();
  if (code !== 0) findings.add('unavailable', `the backup after one that failed ended with ${code}`);
  else await checkStore(folder, {}, findings, 'any');
  rmSync(folder, { recursive: true, force: true });
}

/** Checks that a fault has the documented status: 507 when space is missing, 503 otherwise. */
function checkRefusals(operations: readonly Operation[], one: FaultCase, findings: Findings): void {
  const needsSpace = one.fault.error === 'ENOSPC' || one.fault.error === 'EDQUOT';
  for (const { request, answer } of operations) {
    if (answer === undefined || (answer.status < 500 && answer.code !== 'NO_ENVELOPE')) continue;
    if (answer.status === 503 || (answer.status === 507 && needsSpace)) continue;
    findings.add('wrong error', `${request.what}: ${answer.status} ${answer.code}`);
  }
}
