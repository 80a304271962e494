import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { commandEnvironment } from '../../test/support/command-environment.ts';
import { type StartedService, startService } from '../../test/support/service.ts';
import { checkHistory } from '../history/check-history.ts';
import { createClient } from '../history/client.ts';
import type { Findings } from '../history/findings.ts';
import { createHistory, type History } from '../history/history.ts';
import { checkStore } from '../power/check-crash-state.ts';
import { createShim, type FileClass, type Shim } from '../shim/build-shim.ts';
import { createEndings } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import { openUpstream, type Upstream } from '../support/upstream.ts';

/** The data folder is `live`, and backups go to `backup`. The first match counts. */
export const faultClasses: readonly FileClass[] = [
  { name: 'backup', glob: 'backup*' },
  // Includes the file that the service writes to test whether there is space.
  { name: 'log of the database', glob: '*.db-[wr]*' },
  { name: 'index of the log', glob: '*.db-shm' },
  { name: 'database', glob: '*.db' },
  { name: 'staging', glob: 'live/staging*' },
  { name: 'blobs', glob: 'live/blobs*' },
  { name: 'quarantine', glob: 'live/quarantine*' },
];

/** A service under the shim, its clients and what they know. */
export interface FaultedStore {
  readonly shim: Shim;
  readonly service: StartedService;
  readonly history: History;
  /** Sends requests of every kind concurrently. */
  use(): Promise<void>;
  /** Runs `quartermaster backup` while the service runs. Returns the exit code. */
  backUp(): Promise<number>;
  /** Checks that everything the clients know holds and that new requests succeed. */
  check(context: string): Promise<void>;
  restart(): Promise<true>;
  close(withFsck: boolean): Promise<void>;
}

interface StoreOptions {
  readonly work: string;
  readonly name: string;
  readonly random: Random;
  readonly findings: Findings;
}

/** Milliseconds within which a service serves again after its faults have ended. */
const recoversWithin = 30_000;

export async function openFaultedStore({ work, name, random, findings }: StoreOptions): Promise<FaultedStore> {
  const endings = createEndings();
  const place = join(work, name);
  const folder = join(place, 'live');
  mkdirSync(folder, { recursive: true });
  const shim = createShim(work, place, faultClasses);
  const upstream = await openUpstream(`${place}-upstream`);
  endings.after(upstream.close);
  const start = () => startService(endings, { folder, settings: upstream.settings, launcher: shim.launcher });
  let service = await start();
  const history = createHistory();
  const clients = Array.from({ length: 4 }, (_, index) =>
    createClient({
      history,
      random: random.fork(`${name} ${index}`),
      name: `${name}c${index}`,
      largestUpload: 100_000,
    }),
  );

  return {
    shim,
    history,
    get service() {
      return service;
    },
    use: async () => {
      await Promise.all(
        clients.map(async (client) => {
          for (let count = 0; count < 6; count++) await client.act(service);
        }),
      );
    },
    backUp: () => backUp(shim, folder, join(place, 'backup')),
    check: (context) => check({ service, history, upstream, random, findings: findings.after(context) }),
    restart: async () => {
      await service.kill();
      service = await start();
      return true;
    },
    close: async (withFsck) => {
      if (withFsck) {
        // The service finishes an interrupted delete at its next start, or a minute later.
        await service.kill();
        service = await start();
        await checkStore(folder, {}, findings, 'ending');
      }
      const code = await service.stop();
      if (code !== 0) findings.add('unavailable', `${name} ended with ${code} after all faults`);
      await endings.end();
      shim.control.close();
      rmSync(place, { recursive: true, force: true });
      rmSync(`${place}-upstream`, { recursive: true, force: true });
    },
  };
}

interface Known {
  readonly service: StartedService;
  readonly history: History;
  readonly upstream: Upstream;
  readonly random: Random;
  readonly findings: Findings;
}

async function check({ service, history, upstream, random, findings }: Known): Promise<void> {
  try {
    await untilServing(service);
    await checkHistory({
      ...{ target: service, operations: history.operations, findings, random },
      upstreamCalls: upstream.count,
      contents: 6,
      recordsMayFail: true,
    });
  } catch (error) {
    findings.add('unavailable', `${String(error)} ${service.log().slice(-700)}`);
  }
}

/** Waits until one upload and one read succeed. */
async function untilServing(service: StartedService): Promise<void> {
  for (const latest = performance.now() + recoversWithin; ; ) {
    const upload = { purpose: 'record_file', name: 'serving.txt', content: new Blob(['Is it serving?']) } as const;
    const outcome = await service.client.files.upload(upload.content, upload).catch((error: Error) => error);
    if (!(outcome instanceof Error)) {
      await service.client.files.delete(outcome.file_id);
      return;
    }
    if (performance.now() > latest) throw new Error(`no upload succeeds after the fault is over: ${outcome.message}`);
    await pause(100);
  }
}

function backUp(shim: Shim, folder: string, target: string): Promise<number> {
  const env = { ...commandEnvironment, HOME: folder, QUARTERMASTER_DATA: folder, ...shim.environment };
  const command = [resolve('packages/cli/src/main.ts'), 'backup', target];
  return new Promise((done) => {
    execFile(process.execPath, command, { env, timeout: 60_000 }, (error) =>
      done(error === null ? 0 : Number(error.code ?? 1)),
    );
  });
}
