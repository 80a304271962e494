import { setTimeout } from 'node:timers/promises';
import type { Scope } from '@quartermaster/contract';
import type { Caller } from '../kernel/caller.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import { hashApiKey, looksLikeApiKey } from './api-key.ts';
import { apiKeyRejected } from './problems.ts';
import type { ProjectRepository, StoredKey } from './project-repository.ts';

/** The usable keys, in memory: a request with a good key asks no database. */
export interface KeyRing {
  /**
   * @param authorization the Authorization header.
   * @throws Problem APIKEY_VALIDATION_FAILED, the same after the same work for unknown, revoked and expired keys.
   */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** What was committed before the call holds after it: a revoked key is refused at once. */
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
/** The last use of a key is written at most this often. */
const noteEveryMs = 60_000;

export async function openKeyRing(deps: KeyRingDeps): Promise<KeyRing> {
  const { repository, clock, logger } = deps;
  const uses = new Map<string, number>();
  const noted = new Map<string, number>();
  let entries = new Map<string, Entry>();
  let startedAt = Number.NEGATIVE_INFINITY;
  /** The look that `entries` are from; an older one that ends later changes nothing. */
  let entriesFrom = Number.NEGATIVE_INFINITY;
  /** A look that has not begun: it will see whatever is committed now. */
  let nextLook: Promise<void> | undefined;

  async function load(): Promise<void> {
    const from = performance.now();
    startedAt = from;
    const keys = await repository.usableKeys(clock.now());
    if (from < entriesFrom) return;
    entriesFrom = from;
    entries = new Map(keys.map((key) => [key.hash, entryOf(key)]));
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
      await nextLook?.catch(() => undefined);
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
