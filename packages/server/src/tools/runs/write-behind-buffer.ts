import type { CommonDeps } from '../../platform/common-deps.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import type { BoundedLog } from '../../platform/log/bounded-log.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { Counter } from '../../platform/metrics.ts';
import { Problem } from '../../platform/problem.ts';
import type { PackedRun, RunRepository } from './run-repository.ts';

/** Holds runs that have ended until they are stored. */
export interface WriteBehindBuffer {
  add(run: PackedRun): void;
  /** The waiting runs, the oldest first. */
  waiting(): readonly PackedRun[];
  /** Stores the waiting runs if the database is available. */
  close(): Promise<void>;
}

export interface WriteBehindDeps extends Pick<CommonDeps, 'logger' | 'metrics'> {
  readonly repository: Pick<RunRepository, 'add'>;
  readonly space?: DiskSpace | undefined;
  readonly options?: Partial<WriteBehindOptions>;
}

export interface WriteBehindOptions {
  /** Milliseconds that a record waits for others to share a transaction. */
  readonly waitMs: number;
  /** Milliseconds until a group that failed is retried. */
  readonly pauseMs: number;
  /** The records of one transaction. */
  readonly groupSize: number;
  /** The records that may wait, and the characters of their rows. Beyond either bound the oldest are dropped. */
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

/**
 * Attempts for a group that the database refuses. While the database is unavailable, the group waits for as long as the buffer has
 * space.
 */
const triesOfGroup = 8;
/** Milliseconds between two warnings. */
const warnEveryMs = 10_000;

/** Creates a buffer that stores records in groups. When the database cannot keep up, the oldest records are dropped (ADR 0026). */
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
  const log = createRareLog(logger);
  const buffer: PackedRun[] = [];
  let characters = 0;
  /** The group that is being stored. Its runs can still be found. */
  let group: PackedRun[] = [];
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> | undefined;
  let failures = 0;
  let closing = false;
  let waitsForSpace = false;

  function takeOldest(count: number): PackedRun[] {
    const runs = buffer.splice(0, count);
    for (const { row } of runs) characters -= row.length;
    return runs;
  }

  function drop(runs: readonly PackedRun[], reason: string): void {
    dropped.inc(runs.length);
    log.warn({ reason, runs: runs.length }, 'run records dropped');
  }

  /** Whether records may be stored. A stopping service stores its pending records; the reserved disk space covers them. */
  async function mayStore(): Promise<boolean> {
    waitsForSpace = !closing && (await space?.hasFreeSpace()) === false;
    if (waitsForSpace) log.warn({ runs: buffer.length }, 'run records delayed: the disk is nearly full');
    return !waitsForSpace;
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
      log.warn({ err: error, failures }, 'run records not stored');
      if (failures < triesOfGroup || isAway(error)) return;
      drop(group, 'the database refuses them');
      group = [];
      failures = 0;
    }
  }

  async function storeAll(): Promise<void> {
    do await storeGroup();
    while (failures === 0 && !waitsForSpace && buffer.length >= options.groupSize);
    storing = undefined;
    if (buffer.length + group.length > 0) storeAfter(failures > 0 || waitsForSpace ? options.pauseMs : options.waitMs);
  }

  function storeAfter(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      storing = storeAll();
    }, ms);
  }

  return {
    add: (run) => {
      // Drops a tenth at once, because removing the first entry of a long list is expensive.
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

/** Logs each message at most once per {@link warnEveryMs}, because the same problem may occur many times a second. */
function createRareLog(logger: Logger): Pick<BoundedLog, 'warn'> {
  const warnedAt = new Map<string, number>();
  return {
    warn: (fields, message) => {
      const now = performance.now();
      if (now - (warnedAt.get(message) ?? Number.NEGATIVE_INFINITY) < warnEveryMs) return;
      warnedAt.set(message, now);
      logger.warn(fields, message);
    },
  };
}
