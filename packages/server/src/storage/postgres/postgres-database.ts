import { type Kysely, PostgresDialect, PostgresQueryCompiler, sql } from 'kysely';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { Gauge, type Registry, registerGauge } from '../../platform/metrics.ts';
import { Problem } from '../../platform/problem.ts';
import { checkCreation } from '../database/check-creation.ts';
import { createCommitCheck } from '../database/commit-check.ts';
import type { Database, DatabaseSettings } from '../database/database.ts';
import { migrate, migrationsFor, migrationTable } from '../database/migrations.ts';
import { explainFailedConnection, RetryingKysely } from '../database/postgres-errors.ts';
import { noPostgresStore } from '../database/problems.ts';
import type { Tables } from '../database/tables.ts';
import { holdOffRebuild } from '../search-index/index-locks.ts';
import { createIndexMerger } from '../search-index/index-merger.ts';
import { createIndexRenewal } from '../search-index/index-renewal.ts';
import { createMergeMetrics } from '../search-index/merge-metrics.ts';
import { keptUntil } from '../search-index/plan-merge.ts';
import { createPostgresMergeThread } from '../search-index/postgres/postgres-index-thread.ts';
import { createPostgresSearchIndex } from '../search-index/postgres/postgres-search-index.ts';
import { insertPages } from '../search-index/postgres/postgres-segment-rows.ts';
import { createAvailability } from './postgres-availability.ts';
import { type CountedPool, openPostgresPool, type PoolOptions } from './postgres-pool.ts';
import { createChangeFence, createPostgresServer } from './postgres-server.ts';
import {
  migrationTimeouts,
  refusesOptions,
  refusesTransactions,
  servingTimeouts,
  UnsuitableServer,
} from './postgres-session.ts';
import { createSeqReserve } from './reserve-seqs.ts';

/** Default number of connections; one of them is reserved for heartbeats and leases. */
const defaultConnections = 10;

/**
 * Replaces U+0000 in parameters, because PostgreSQL refuses statements with it. No stored text contains U+0000, so a
 * search for one finds nothing instead of failing.
 */
class QueryCompiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    const hasNul = typeof parameter === 'string' && parameter.includes('\0');
    super.addParameter(hasNul ? parameter.replaceAll('\0', '\ufffd') : parameter);
  }
}

class Dialect extends PostgresDialect {
  override createQueryCompiler(): QueryCompiler {
    return new QueryCompiler();
  }
}

/**
 * Opens the connection pools of a PostgreSQL server.
 * @throws when the server could lose acknowledged commits or accepts no writes
 */
export async function openPostgresDatabase(url: string, settings: DatabaseSettings): Promise<Database> {
  const { logger, connections = defaultConnections, durability = 'local', timeouts = servingTimeouts } = settings;
  const server = createPostgresServer(url, durability);
  const availability = createAvailability({ probe: server.probe, logger });
  const fence = createChangeFence();
  let refused = 0;
  const openPool = (limits: Pick<PoolOptions, 'connections' | 'timeouts' | 'confirmChange'>) => {
    const pool = openPostgresPool({ server, availability, logger, onRefused: () => refused++, ...limits });
    return { pool, db: new RetryingKysely<Tables>({ dialect: new Dialect({ pool }) }) };
  };
  const main = openPool({ connections: connections - 1, timeouts, confirmChange: fence.confirm });
  const reserved = openPool({ connections: 1, timeouts });
  let clock: PostgresClock | undefined;
  let index: ReturnType<typeof openSearchIndex> | undefined;
  const close = async () => {
    await index?.close();
    await Promise.all([clock?.close(), availability.close()]);
    await Promise.all([main.db.destroy(), reserved.db.destroy()]);
  };
  const migrating = openPool({ connections: 1, timeouts: migrationTimeouts });
  try {
    if (settings.mustExist === true && !(await hasStore(migrating.db))) throw noPostgresStore();
    await checkCreation(settings, () => hasStore(migrating.db));
    await migrate(migrating.db, 'postgres', migrationsFor('postgres', settings.movedStore));
    clock = await openPostgresClock({ db: reserved.db, local: settings.clock ?? systemClock, logger });
  } catch (error) {
    await close();
    throw reasonOf(error);
  } finally {
    await migrating.db.destroy();
  }
  const { metrics } = settings;
  if (metrics !== undefined) countConnections(metrics, [main.pool, reserved.pool], () => refused);
  const checkCommit = createCommitCheck(reserved.db);
  if (metrics !== undefined) showSkew(metrics, clock);
  const { searchCacheBytes, admission } = settings;
  const { epoch } = availability;
  index = openSearchIndex(main.db, { clock, metrics, logger, epoch, searchCacheBytes, admission });
  return {
    dialect: 'postgres',
    read: main.db,
    write: main.db,
    leases: reserved.db,
    clock,
    searchIndex: index.searchIndex,
    startMaintenance: index.startMerging,
    untilMerged: index.untilMerged,
    reserveSeqs: createSeqReserve(main.db, epoch),
    fence,
    assertAvailable() {
      availability.assert();
      fence.assert();
    },
    async check() {
      availability.assert();
      fence.assert();
      await checkCommit();
    },
    close,
  };
}

/** Milliseconds for which replaced segments are kept. A question takes less time, because its statements are limited. */
const keptSegments = 60_000;

interface SearchIndexParts extends Pick<CommonDeps, 'admission' | 'logger'> {
  readonly clock: PostgresClock;
  readonly metrics: Registry | undefined;
  readonly epoch: () => number;
  readonly searchCacheBytes: number | undefined;
}

function openSearchIndex(db: Kysely<Tables>, parts: SearchIndexParts) {
  const { clock, metrics, logger, epoch, searchCacheBytes, admission } = parts;
  const times = { clock, keptMs: keptSegments };
  const searchIndex = createPostgresSearchIndex({
    epoch,
    searchCacheBytes,
    admission,
    onChanged: (collectionId) => merger.changed(collectionId),
    keptUntil: () => keptUntil(times),
  });
  const merger = createIndexMerger({
    write: db,
    insertPages,
    logger,
    metrics: createMergeMetrics(metrics),
    times,
    holdOffRebuild,
    openThread: async () => createPostgresMergeThread(db),
    rebuildSome: createIndexRenewal({ dialect: 'postgres', write: db, searchIndex, logger }, metrics),
  });
  return {
    searchIndex,
    startMerging() {
      searchIndex.start();
      // The disk of the server is not known.
      merger.start(async () => true);
    },
    untilMerged: merger.untilMerged,
    async close() {
      await merger.close();
      await searchIndex.close();
    },
  };
}

/** Returns whether the search path of the database has a table of a store. */
async function hasStore(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${migrationTable}) is not null as found`.execute(
    db,
  );
  return rows[0]?.found === true;
}

/** At start the operator gets the reason and the remedy. Callers get a general error. */
function reasonOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  const problem = [error, cause].find((each) => each instanceof Problem);
  const reason = problem === undefined ? error : problem.cause;
  if (refusesTransactions(reason)) return new UnsuitableServer(inStatementMode);
  if (refusesOptions(reason)) return new UnsuitableServer(withOptions);
  const isOther = problem === undefined || reason instanceof UnsuitableServer;
  return isOther ? reason : (explainFailedConnection(reason) ?? reason);
}

const inStatementMode =
  'The connection pooler allows no transactions (pool_mode = statement); use pool_mode = transaction or session.';
const withOptions =
  'The connection pooler refuses the `options` of the database URL; remove them from the URL, or set them for the role.';

function showSkew(registry: Registry, clock: PostgresClock): void {
  registerGauge(
    registry,
    'quartermaster_database_clock_skew_seconds',
    'Seconds that the clock of this machine is ahead of the clock of PostgreSQL. Leases use the latter.',
    () => clock.skew() / 1000,
  );
}

function countConnections(registry: Registry, pools: readonly CountedPool[], refused: () => number): void {
  const registers = [registry];
  const sum = (part: 'open' | 'idle' | 'waiting') => pools.reduce((total, pool) => total + pool.counts()[part], 0);
  new Gauge({
    name: 'quartermaster_database_connections',
    help: 'PostgreSQL connections: open, idle, and requests waiting for one.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of ['open', 'idle', 'waiting'] as const) this.set({ state }, sum(state));
    },
  });
  registerGauge(
    registry,
    'quartermaster_database_connections_refused',
    'Connections refused by PostgreSQL since the start because it had too many.',
    () => refused(),
  );
}

/** Milliseconds between two measurements. */
const measureEveryMs = 5_000;
/** Slower measurements are discarded, because their error grows with their duration. */
const slowestMs = 1_000;
/** Smaller differences are caused by network delay and are ignored. */
const leastChangeMs = 10;
/** A larger difference between the two clocks is logged as a warning. */
const warnAboveMs = 2_000;

/** The clock of the database server. Processes that compare times, for example of leases, then use the same time. */
export interface PostgresClock extends Clock {
  /** Milliseconds by which the clock of this machine is ahead. */
  skew(): number;
  close(): Promise<void>;
}

export interface PostgresClockDeps {
  readonly db: Kysely<Tables>;
  readonly local: Clock;
  readonly logger: Logger;
}

/**
 * Continues from the last measurement with the monotonic clock, so setting the clock of this machine has no effect.
 * @throws when the first measurement fails
 */
export async function openPostgresClock({ db, local, logger }: PostgresClockDeps): Promise<PostgresClock> {
  let offset = Number.NaN;
  let isWarned = false;
  const now = () => Math.round(performance.now() + offset);
  const skew = () => local.now() - now();

  async function measure(): Promise<void> {
    const sentAt = performance.now();
    const { rows } = await sql<{ now: number }>`
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
    const answered = performance.now();
    const measured = Number(rows[0]?.now) - (sentAt + answered) / 2;
    const isFirst = Number.isNaN(offset);
    if (!isFirst && answered - sentAt > slowestMs) return;
    if (isFirst || Math.abs(measured - offset) > leastChangeMs + (answered - sentAt) / 2) offset = measured;
    warn();
  }
  function warn(): void {
    const isFar = Math.abs(skew()) > warnAboveMs;
    if (isFar && !isWarned) logger.warn({ skew_ms: skew() }, 'clock differs from the database');
    isWarned = isFar;
  }

  await measure();
  let measuring: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // The previous measurement is used while the database is unavailable.
    measuring = measure().catch(() => {});
  }, measureEveryMs);
  timer.unref();
  return {
    now,
    skew,
    close: async () => {
      clearInterval(timer);
      await measuring;
    },
  };
}
