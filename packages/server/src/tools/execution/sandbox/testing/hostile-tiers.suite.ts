import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { SandboxOutcome } from '../sandbox.ts';
import { childrenOf, openTestBed, type TestBed } from './test-bed.suite.ts';

/** A secret in the environment of the server, in its files and in another bundle. */
export const planted = 'planted-7f3a9c';

/** A tier of isolation. Both tiers must give the same guarantees. */
export interface Tier {
  readonly bed: TestBed;
  /** Runs the handler, and asserts that a run of another bundle works afterwards. */
  readonly runHostile: (source: string, change?: Change) => Promise<SandboxOutcome>;
}
export type Change = Parameters<TestBed['run']>[1];

export const isolations = ['process', 'sandbox'] as const;
const tiers = new Map<string, Tier>();
let bundles = 0;

before(async () => {
  process.env.PLANTED_TOKEN = planted;
  for (const isolation of isolations) tiers.set(isolation, await openTier(isolation));
});
after(async () => {
  delete process.env.PLANTED_TOKEN;
  for (const { bed } of tiers.values()) {
    await bed[Symbol.asyncDispose]();
    assert.ok(!bed.log.join('').includes(planted), 'the log holds no credential');
  }
  assert.deepEqual(childrenOf(process.pid), [], 'no process is left');
});

async function openTier(isolation: (typeof isolations)[number]): Promise<Tier> {
  const bed = await openTestBed({ isolation });
  await bed.addBundle('neighbour', { 'run.mjs': 'export const run = () => "well";', 'secret.txt': planted });
  await writeFile(join(bed.folder, 'data.txt'), planted);
  const runHostile = async (source: string, change: Change = {}): Promise<SandboxOutcome> => {
    const bundleId = `hostile${++bundles}`;
    await bed.addBundle(bundleId, { 'run.mjs': source });
    const outcome = await bed.run(bundleId, change);
    assert.deepEqual(await bed.run('neighbour'), { kind: 'returned', output: 'well' });
    return outcome;
  };
  return { bed, runHostile };
}

/** Registers one test for each tier, because both give the same guarantee. */
export function inEachTier(name: string, hold: (tier: Tier, context: TestContext) => Promise<void>): void {
  for (const isolation of isolations) {
    test(`${isolation}: ${name}`, async (context) => {
      const tier = tiers.get(isolation);
      assert.ok(tier !== undefined);
      await hold(tier, context);
    });
  }
}
