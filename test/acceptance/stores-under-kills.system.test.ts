import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { checkStores } from '../support/check-stores.ts';
import { repeatsKills } from '../support/kill-depth.ts';
import { databaseFor } from '../support/postgres.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';
import { createStoreCaller, type StoreCaller } from '../support/store-caller.ts';

const callersAtOnce = 6;
/** Responses between two kills. They take longer than the start of a service and its JIT. */
const answersBetweenKills = 100;

/**
 * Callers use the stores at random while the service is killed repeatedly. Everything acknowledged must hold. An
 * operation without a response may have happened or not, but never partially.
 */
test('[stores] after two kills under mixed load, in the proof four, acknowledged changes persist and deleted data is gone', async (t) => {
  const folder = await temporaryFolder(t);
  await killAgainAndAgain(() => startService(t, { folder }), repeatsKills ? 4 : 2);
});

test('[stores] after a kill under mixed load on PostgreSQL, in the proof two, acknowledged changes persist and deleted data is gone', async (t) => {
  const database = { url: await databaseFor(t) };
  const folder = await temporaryFolder(t);
  await killAgainAndAgain(
    () => startService(t, { folder, settings: { DATABASE_URL: database.url } }),
    repeatsKills ? 2 : 1,
  );
});

async function killAgainAndAgain(start: () => Promise<StartedService>, kills: number): Promise<void> {
  const callers = Array.from({ length: callersAtOnce }, createStoreCaller);
  for (let kill = 0; kill < kills; kill++) await callUntilKilled(await start(), callers);
  const service = await start();
  await checkStores(service, callers);
  assert.equal(await service.stop(), 0);
}

async function callUntilKilled(service: StartedService, callers: readonly StoreCaller[]): Promise<void> {
  const dead = once(service.process, 'exit');
  let calls = 0;
  let killed: Promise<void> | undefined;
  await Promise.all(
    callers.map(async (caller) => {
      while (killed === undefined) {
        await caller.act(service.client);
        if (++calls >= answersBetweenKills) killed ??= service.kill();
      }
    }),
  );
  await dead;
}
