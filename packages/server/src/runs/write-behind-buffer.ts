import type { DiskSpace } from '../kernel/disk/disk-space.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { Counter, type Registry } from '../kernel/metrics.ts';
import { Problem } from '../kernel/problem.ts';
import type { PackedRun, RunRepository } from './run-repository.ts';

/** Runs that have ended, until they are stored. */
export interface WriteBehindBuffer {
  add(run: PackedRun): void;
  /** The oldest first. */
  waiting(): readonly PackedRun[];
  /** Stores the runs that wait, if the database is available. */
  close(): Promise<void>;
}

export interface WriteBehindDeps {
  readonly repository: Pick<RunRepository, 'add'>;
  readonly space?: DiskSpace | undefined;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly options?: Partial<WriteBehindOptions>;
}

export interface WriteBehindOptions {
  /** Milliseconds that a record waits for others to be stored with. */
  readonly waitMs: number;
  /** Milliseconds until a group that was not stored is tried again. */
  readonly pauseMs: number;
  /** Records of one transaction. */
  readonly groupSize: number;
  /** Records that may wait, and characters of their rows; beyond either the oldest are dropped. */
  readonly most: number;
  readonly mostCharacters: number;
}

const defaults: WriteBehindOptions = {
  waitMs: 250,
  pauseMs: 1000,
  groupSize: 500,
  most: 20_000,
  mostCharacters: 64 * 1024 * 1024,
};

/** Tries of one group that the database refuses. One that is away is waited for, as long as there is room. */
const triesOfGroup = 8;
/** Milliseconds between two warnings. */
const warnEveryMs = 10_000;

/** Stores records in groups; when the database cannot keep up they are lost, the oldest first (ADR 0026). */
export function createWriteBehindBuffer({
  repository,
  space,
  logger,
  metrics,
  ...deps
}: WriteBehindDeps): WriteBehindBuffer {
  const options = { ...defaults, ...deps.options };
  const dropped = new Counter({
    name: 'quartermaster_run_records_dropped_total',
    help: 'Run records dropped because the write buffer was full.',
    registers: [metrics],
  });
  const warn = createRareWarning(logger);
  const buffer: PackedRun[] = [];
  let characters = 0;
  /** Being stored; still to be found here. */
  let group: PackedRun[] = [];
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> | undefined;
  let failures = 0;
  let closing = false;
  let waitsForRoom = false;

  function takeOldest(count: number): PackedRun[] {
    const runs = buffer.splice(0, count);
    for (const { row } of runs) characters -= row.length;
    return runs;
  }

  function drop(runs: readonly PackedRun[], reason: string): void {
    dropped.inc(runs.length);
    warn('records of runs are lost', { reason, runs: runs.length });
  }

  /** A stopping service stores its pending data; the disk reserve covers that. */
  async function mayStore(): Promise<boolean> {
    waitsForRoom = !closing && (await space?.hasRoom()) === false;
    if (waitsForRoom) warn('records of runs wait for disk space', { runs: buffer.length });
    return !waitsForRoom;
  }

  async function storeGroup(): Promise<void> {
    if (group.length === 0) group = takeOldest(options.groupSize);
    if (group.length === 0 || !(await mayStore())) return;
    try {
      await repository.add(group);
      group = [];
      failures = 0;
    } catch (error) {
      failures += 1;
      warn('run records not stored', { err: error, failures });
      if (failures < triesOfGroup || isAway(error)) return;
      drop(group, 'the database refuses them');
      group = [];
      failures = 0;
    }
  }

  async function storeAll(): Promise<void> {
    do await storeGroup();
    while (failures === 0 && !waitsForRoom && buffer.length >= options.groupSize);
    storing = undefined;
    if (buffer.length + group.length > 0) storeAfter(failures > 0 || waitsForRoom ? options.pauseMs : options.waitMs);
  }

  function storeAfter(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      storing = storeAll();
    }, ms);
  }

  return {
    add: (run) => {
      // A tenth at once: taking the first off a long list costs more than all the rest of this.
      if (buffer.length >= options.most || characters > options.mostCharacters) {
        drop(takeOldest(Math.ceil(buffer.length / 10)), 'too many wait');
      }
      buffer.push(run);
      characters += run.row.length;
      if (timer === undefined && storing === undefined) storeAfter(options.waitMs);
    },
    waiting: () => (group.length === 0 ? buffer : [...group, ...buffer]),
    close: async () => {
      closing = true;
      clearTimeout(timer);
      await storing;
      clearTimeout(timer);
      failures = 0;
      while (buffer.length + group.length > 0 && failures === 0) await storeGroup();
      if (buffer.length + group.length > 0) drop([...group, ...buffer], 'the service stops');
    },
  };
}

function isAway(error: unknown): boolean {
  return error instanceof Problem && error.code === 'SERVICE_UNAVAILABLE';
}

/** Each message at most once in so long: what goes wrong here does so many times a second. */
function createRareWarning(logger: Logger): (message: string, fields: object) => void {
  const warnedAt = new Map<string, number>();
  return (message, fields) => {
    const now = performance.now();
    if (now - (warnedAt.get(message) ?? Number.NEGATIVE_INFINITY) < warnEveryMs) return;
    warnedAt.set(message, now);
    logger.warn(fields, message);
  };
}
