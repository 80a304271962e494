import { setTimeout } from 'node:timers/promises';
import type { Caller } from '../../platform/caller.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { coalesce } from '../../platform/concurrency/coalesce.ts';
import { createBoundedLog } from '../../platform/log/bounded-log.ts';
import { createPermissions } from '../../platform/permissions.ts';
import { hashApiKey, looksLikeApiKey } from './api-key.ts';
import { apiKeyRejected } from './problems.ts';
import type { ProjectRepository, StoredKey } from './project-repository.ts';

/**
 * Keeps the usable keys in memory, so that a request with a valid key needs no query. Each load reads only the keys
 * that changed.
 */
export interface KeyRing {
  /**
   * @param authorization the Authorization header
   * @throws Problem APIKEY_VALIDATION_FAILED, the same after the same work for unknown, revoked and expired keys
   */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** Loads every change that was committed before the call, so a revoked key is refused immediately. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface KeyRingDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly repository: ProjectRepository;
  /** Called by the first load, and by each load after a change of keys, rate limits or installed bundles. */
  readonly onChange?: () => Promise<void>;
  /** The time for which a key that another process revoked may still work. */
  readonly refreshMs?: number | undefined;
}

interface Entry {
  readonly caller: Caller;
  readonly expiresAt: number;
}

/**
 * A key that is not found may be new, so it causes a load. One load in this time serves all of them. It starts after
 * the miss, so that it includes every earlier commit.
 */
const missLoadMs = 200;
const forgetEveryMs = 60_000;
/** The last use of a key is stored at most once in this time, and at the end if the database can be reached. */
const noteEveryMs = 60_000;

export async function openKeyRing(deps: KeyRingDeps): Promise<KeyRing> {
  const { repository, clock, logger } = deps;
  const uses = new Map<string, number>();
  const noted = new Map<string, number>();
  let entries = new Map<string, Entry>();
  let startedAt = Number.NEGATIVE_INFINITY;
  /** The number of the last change that `entries` contains; null before the first load. */
  let known: number | null = null;
  /** The next load, which has not started and therefore includes all commits up to now. */
  let nextLoad: Promise<void> | undefined;
  /** One load at a time, so that an older one never overwrites a newer one. */
  const { run: load, idle } = coalesce(loadChanges);

  async function loadChanges(): Promise<void> {
    startedAt = performance.now();
    const now = clock.now();
    const { number, isWhole, keys } = await repository.changedKeys(known, now);
    const next = isWhole ? new Map<string, Entry>() : entries;
    for (const key of keys) {
      if (key.revokedAt === null) next.set(key.hash, entryOf(key));
      else next.delete(key.hash);
    }
    entries = next;
    if (number !== known) await deps.onChange?.();
    known = number;
  }
  /** Expired keys are refused anyway; this frees their memory. */
  function forgetExpired(): void {
    const now = clock.now();
    for (const [hash, { expiresAt }] of entries) if (expiresAt <= now) entries.delete(hash);
  }
  function loadAfterMiss(): Promise<void> {
    nextLoad ??= (async () => {
      await setTimeout(Math.max(0, startedAt + missLoadMs - performance.now()));
      nextLoad = undefined;
      await load();
    })();
    return nextLoad;
  }
  async function noteUses(leastAgeMs: number): Promise<void> {
    const due = [...uses].filter(([keyId, at]) => at - (noted.get(keyId) ?? Number.NEGATIVE_INFINITY) >= leastAgeMs);
    if (due.length === 0) return;
    await repository.touchKeys(new Map(due));
    for (const [keyId, at] of due) noted.set(keyId, at);
  }
  function findUsable(hash: string): Caller | undefined {
    const entry = entries.get(hash);
    return entry !== undefined && clock.now() < entry.expiresAt ? entry.caller : undefined;
  }

  await load();
  // A full disk fails every refresh.
  const failures = createBoundedLog(logger, 1);
  const timer = setInterval(() => {
    Promise.all([load(), noteUses(noteEveryMs)]).catch((error: unknown) =>
      failures.warn({ err: error }, 'keys not refreshed'),
    );
  }, deps.refreshMs ?? 1000);
  timer.unref();
  const forgetting = setInterval(forgetExpired, forgetEveryMs).unref();

  return {
    authenticate: async (authorization) => {
      const key = bearerKey(authorization);
      if (key === undefined) throw apiKeyRejected();
      const hash = hashApiKey(key);
      let caller = findUsable(hash);
      if (caller === undefined) {
        await loadAfterMiss();
        caller = findUsable(hash);
      }
      if (caller === undefined) throw apiKeyRejected();
      uses.set(caller.keyId, clock.now());
      return caller;
    },
    refresh: load,
    close: async () => {
      clearInterval(timer);
      clearInterval(forgetting);
      await nextLoad?.catch(() => undefined);
      await idle();
      await noteUses(1).catch((error: unknown) => logger.warn({ err: error }, 'last uses of keys not stored'));
    },
  };
}

function entryOf(key: StoredKey): Entry {
  return {
    caller: { projectId: key.projectId, keyId: key.id, permissions: createPermissions(key, [key.id, ...key.replaced]) },
    expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY,
  };
}

function bearerKey(authorization: string | undefined): string | undefined {
  const match = /^Bearer ([^ ]+)$/i.exec(authorization ?? '');
  const key = match?.[1];
  return key !== undefined && looksLikeApiKey(key) ? key : undefined;
}
