import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';

const preload = new URL('../support/hold-loop.ts', import.meta.url).href;
const launcher = ['env', `NODE_OPTIONS=--import=${preload}`];
const settings = { WATCHDOG_SECONDS: '5' };

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly silent_seconds: number;
  readonly unanswered: readonly string[];
}

/** Sends a request that never gets a response, and reads the log lines about the watchdog. */
async function hold(service: StartedService, path: string) {
  const requestId = 'held-request-0001';
  const exit = once(service.process, 'close');
  const answer = fetch(service.pluginsUrl + path, { headers: { 'x-request-id': requestId } });
  await assert.rejects(answer);
  const [, signal] = (await exit) as [number | null, NodeJS.Signals | null];
  const lines = service
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return {
    signal,
    requestId,
    log: service.log(),
    lines: lines.filter(({ msg }) => msg === 'event loop blocked'),
  };
}

for (const planted of ['plantedLoop', 'plantedExpression', 'plantedChild']) {
  test(`[watchdog] a service whose event loop is stuck in ${planted} ends, and one line names the request`, async (t) => {
    const service = await startService(t, { settings, launcher });
    const held = await hold(service, `/v1/version?${planted}`);
    assert.equal(held.signal, 'SIGKILL', held.log);
    assert.equal(held.lines.length, 1, held.log);
    const [line] = held.lines;
    assert.equal(line?.level, 'fatal');
    assert.equal(line?.silent_seconds, 5);
    assert.deepEqual(line?.unanswered, [`GET /v1/version ${held.requestId}`]);
    assert.doesNotMatch(held.log, new RegExp(planted));
  });
}

test('[watchdog] time in which the process was stopped is no silence of the event loop', async (t) => {
  const end = join(await temporaryFolder(t), 'end');
  const held = { settings: { WATCHDOG_SECONDS: '5' }, launcher: ['env', `HELD_UNTIL=${end}`, ...launcher.slice(1)] };
  const service = await startService(t, held);
  const answer = fetch(`${service.pluginsUrl}/v1/version?plantedWait`);
  while (!service.log().includes('held')) await once(service.process.stderr as Readable, 'data');
  service.process.kill('SIGSTOP');
  // Waits longer than the limit, because this test is about time itself.
  await pause(6000);
  service.process.kill('SIGCONT');
  // A watchdog that compares times would end the process at its next tick, because the event loop is still held.
  await pause(1500);
  await writeFile(end, '');
  assert.equal((await answer).status, 200, service.log());
  assert.equal(await service.stop(), 0, service.log());
});

test('[watchdog] with 0 seconds no silence of the event loop ends the process, and a metric shows the longest one otherwise', async (t) => {
  const off = await startService(t, { settings: { WATCHDOG_SECONDS: '0' }, launcher });
  assert.equal((await fetch(`${off.pluginsUrl}/v1/version?plantedPause`)).status, 200);
  assert.equal(await longestSilence(off), undefined);
  const patient = await startService(t, { settings: { WATCHDOG_SECONDS: '30' }, launcher });
  assert.equal((await fetch(`${patient.pluginsUrl}/v1/version?plantedPause`)).status, 200);
  const silence = (await longestSilence(patient)) ?? 0;
  assert.ok(silence >= 1 && silence < 30, String(silence));
});

async function longestSilence({ pluginsUrl, key }: StartedService): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${key}` };
  const metrics = await (await fetch(`${pluginsUrl}/metrics`, { headers })).text();
  const value = /^quartermaster_event_loop_longest_silence_seconds (\d+)$/m.exec(metrics)?.[1];
  return value === undefined ? undefined : Number(value);
}
