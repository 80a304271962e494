import { setTimeout } from 'node:timers/promises';
import type { Scope } from '@quartermaster/contract';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/log/logger.ts';
import { apiKeyRejected } from '../projects/problems.ts';
import type { ProjectRepository, StoredKey } from '../projects/project-repository.ts';
import { hashApiKey, looksLikeApiKey } from './api-key.ts';

/** The usable keys, in memory: a request with a good key asks no database. Each look loads only the keys that changed. */
export interface KeyRing {
  /**
   * @param authorization the Authorization header.
   * @throws Problem APIKEY_VALIDATION_FAILED, the same after the same work for unknown, revoked and expired keys.
   */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** Sees everything committed before the call, so a revoked key is refused at once. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface KeyRingDeps {
  readonly repository: ProjectRepository;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a key that another process revoked may still work. */
  readonly refreshMs?: number;
}

interface Entry {
  readonly caller: Caller;
  readonly expiresAt: number;
}

/**
 * A miss looks at the database, for the key may just have been made; one look in this time serves all of them. It
 * begins after the miss, so that it sees what was committed before.
 */
const missLookMs = 200;
const forgetEveryMs = 60_000;
/** The last use of a key is written at most this often. */
const noteEveryMs = 60_000;

export async function openKeyRing(deps: KeyRingDeps): Promise<KeyRing> {
  const { repository, clock, logger } = deps;
  const uses = new Map<string, number>();
  const noted = new Map<string, number>();
  let entries = new Map<string, Entry>();
  let startedAt = Number.NEGATIVE_INFINITY;
  /** The change up to which `entries` are known; null before the first look. */
  let known: number | null = null;
  /** A look that has not begun: it will see whatever is committed now. */
  let nextLook: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();

  /** One look after another, so that an older one never undoes a newer one; those that wait for the next share it. */
  function load(): Promise<void> {
    queued ??= running
      .catch(() => undefined)
      .then(async () => {
        queued = undefined;
        await look();
      });
    running = queued;
    return queued;
  }
  async function look(): Promise<void> {
    startedAt = performance.now();
    const now = clock.now();
    const { number, isWhole, keys } = await repository.changedKeys(known, now);
    const next = isWhole ? new Map<string, Entry>() : entries;
    for (const key of keys) {
      if (key.revokedAt === null) next.set(key.hash, entryOf(key));
      else next.delete(key.hash);
    }
    [entries, known] = [next, number];
  }
  /** Expired keys are refused anyway; this frees their memory. */
  function forgetExpired(): void {
    const now = clock.now();
    for (const [hash, { expiresAt }] of entries) if (expiresAt <= now) entries.delete(hash);
  }
  function lookAgain(): Promise<void> {
    nextLook ??= (async () => {
      await setTimeout(Math.max(0, startedAt + missLookMs - performance.now()));
      nextLook = undefined;
      await load();
    })();
    return nextLook;
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
  const timer = setInterval(() => {
    Promise.all([load(), noteUses(noteEveryMs)]).catch((error: unknown) =>
      logger.warn({ err: error }, 'keys not refreshed'),
    );
  }, deps.refreshMs ?? 1000);
  timer.unref();
  const forgetting = setInterval(forgetExpired, forgetEveryMs);
  forgetting.unref();

  return {
    authenticate: async (authorization) => {
      const key = bearerKey(authorization);
      if (key === undefined) throw apiKeyRejected();
      const hash = hashApiKey(key);
      let caller = findUsable(hash);
      if (caller === undefined) {
        await lookAgain();
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
      await nextLook?.catch(() => undefined);
      await running.catch(() => undefined);
      await noteUses(1);
    },
  };
}

function entryOf(key: StoredKey): Entry {
  return {
    caller: { projectId: key.projectId, keyId: key.id, scopes: scopesOf(key) },
    expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY,
  };
}

/** `admin` includes `metrics`: keys that were created before `metrics` existed keep reading the metrics. */
function scopesOf({ scopes }: StoredKey): ReadonlySet<Scope> {
  return new Set(scopes.includes('admin') ? [...scopes, 'metrics'] : scopes);
}

function bearerKey(authorization: string | undefined): string | undefined {
  const match = /^Bearer ([^ ]+)$/i.exec(authorization ?? '');
  const key = match?.[1];
  return key !== undefined && looksLikeApiKey(key) ? key : undefined;
}
