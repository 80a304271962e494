import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type StartedService, startService } from '../../test/support/service.ts';
import { createEndings } from '../support/endings.ts';
import type { Cost, HoldCase } from './hold-case.ts';
import { connectProbe, type LoopProbe } from './loop-probe-client.ts';
import { createSender, type Sender } from './send-raw.ts';

/** A service that measures itself, and the objects that requests name. */
export interface HoldService {
  readonly service: StartedService;
  readonly sender: Sender;
  /** Ids of objects, by the name of their member. */
  readonly ids: Readonly<Record<string, string>>;
}

export interface Measured extends HoldService {
  /** Sends the case once. Returns `null` when the service had ended. */
  measure(payload: HoldCase): Promise<Cost>;
  /**
   * Whether the memory, after a garbage collection, is so far above that of a fresh process that it could hide a
   * payload.
   */
  isSwollen(): Promise<boolean>;
  end(): Promise<void>;
}

/** MiB that a process may grow, after a garbage collection, before a fresh one replaces it. */
const mostGained = 48;
/** MiB above the idle memory from which garbage is collected before the next payload. */
const collectFrom = 16;
/** Milliseconds after a response during which the work on it still counts. */
const settling = 4;

/** The service gets its own session, because Linux shares the processors by session where `autogroup` is on. */
const withPriority = [
  'setsid',
  'nice',
  '-n',
  '-10',
  'sh',
  '-c',
  'echo -10 2>&- >/proc/self/autogroup; exec "$@"',
  'sh',
];

export interface StartOptions {
  readonly place: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Creates the objects that requests name, and uses each part of the service once. */
  readonly prepare: (service: StartedService) => Promise<Record<string, string>>;
}

let started = 0;

/**
 * Starts the real service with the probe. As root it gets a higher priority, because other work on the machine adds to
 * its delay.
 */
export async function startMeasured({ place, settings, prepare }: StartOptions): Promise<Measured> {
  const endings = createEndings();
  const folder = join(place, `live-${++started}`);
  const socket = join(place, `probe-${started}.sock`);
  mkdirSync(folder, { recursive: true });
  endings.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const probeModule = join(import.meta.dirname, 'loop-probe.ts');
  const probed = ['env', `NODE_OPTIONS=--import=${probeModule}`, `HOLD_PROBE_SOCKET=${socket}`];
  const launcher = process.getuid?.() === 0 ? [...probed, ...withPriority] : probed;
  try {
    const service = await startService(endings, {
      folder,
      launcher,
      settings: { EXTRACTION_PROCESSES: String(Math.min(2, availableParallelism())), ...settings },
    });
    const probe = await connectProbe(socket);
    endings.after(() => probe.close());
    const sender = createSender(service);
    endings.after(() => sender.close());
    const ids = await prepare(service);
    const rest = (await probe.ask('collect')).memory;
    const target = { service, sender, ids };
    let present = rest;
    return {
      ...target,
      isSwollen: async () => {
        if (present > rest + collectFrom) present = (await probe.ask('collect')).memory;
        return present > rest + mostGained;
      },
      measure: async (payload) => {
        const cost = await measureOnce(payload, target, probe);
        present = cost.memoryAfter;
        return cost;
      },
      end: () => endings.end(),
    };
  } catch (error) {
    await endings.end();
    throw error;
  }
}

async function measureOnce(payload: HoldCase, target: HoldService, probe: LoopProbe) {
  const { memory: before } = await probe.ask('reset');
  target.sender.takeLongestWait();
  const outcome = await payload.send(target);
  const answer = target.sender.takeLongestWait();
  await pause(settling);
  const { delay, delayProcessor, processor, memory, peakMemory } = await probe.ask('read');
  return { outcome, answer, delay, delayProcessor, processor, memory: peakMemory - before, memoryAfter: memory };
}
