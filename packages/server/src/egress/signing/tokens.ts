import { createHmac, randomBytes } from 'node:crypto';
import type { StoredRefreshToken } from '../../access/credential-profiles/resolve-credentials.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { EgressResult } from '../broker.ts';
import type { TokenNeed } from './token-need.ts';

/** What a token endpoint gave. */
export interface GrantedToken {
  readonly accessToken: string;
  /** Seconds, as the endpoint said; undefined when it did not. */
  readonly expiresIn: number | undefined;
  /** A new one that takes the place of the one that was sent. */
  readonly refreshToken: string | undefined;
}

/** A token, or how the call ends without one. */
export type Granted = { readonly token: GrantedToken } | { readonly failure: Failure };
type Failure = Exclude<EgressResult, { kind: 'response' }>;
export type RequestToken = (need: TokenNeed) => Promise<Granted>;

/** A token in use. */
export interface TokenInUse {
  readonly accessToken: string;
  /** What the next one is asked for with; no request of a plugin carries it. */
  readonly refreshToken: string | undefined;
  /** It was got earlier, so the other side may have forgotten it meanwhile. */
  readonly isOld: boolean;
}

/**
 * Access tokens, in memory only: each is kept until it expires, under a keyed hash of the credentials it was got with.
 * Those who need the same one at the same time share one request.
 */
export interface Tokens {
  /**
   * @param request gets a new one; runs to its own end whoever waits for it
   * @param options.wantsFresh whether to request a new token instead of a cached one
   * @param options.stored where a new refresh token is stored before the access token is used
   */
  get(
    need: TokenNeed,
    request: RequestToken,
    options?: { readonly wantsFresh?: boolean; readonly stored?: StoredRefreshToken | undefined },
  ): Promise<{ readonly use: TokenInUse } | { readonly failure: Failure }>;
  /** The other side refused this token: the next `get` gets another. */
  forget(need: TokenNeed, accessToken: string, stored?: StoredRefreshToken): void;
}

interface Entry {
  accessToken: string;
  goodUntil: number;
  /** The one that the next request sends; some servers give a new one each time and refuse the old. */
  refreshToken: string | undefined;
}

const maxEntries = 10_000;
/** Without a word about its life a token is kept for this long; a 401 ends it sooner. */
const assumedLifeMs = 3_600_000;
/** A token is not used in the last part of its life: the request has to arrive as well. */
const marginMs = 30_000;

interface Renewal {
  readonly need: TokenNeed;
  readonly request: RequestToken;
  readonly stored: StoredRefreshToken | undefined;
}

/** Uses the newest refresh token. A new one is stored before the access token is returned. */
async function refreshStored({ need, request, stored }: Renewal & { stored: StoredRefreshToken }): Promise<Granted> {
  try {
    const { granted } = await stored.refresh(need.refreshTokenName ?? '', async (newest) => {
      const granted = await request({ ...need, refreshToken: newest });
      return { granted, rotated: 'token' in granted ? granted.token.refreshToken : undefined };
    });
    return granted;
  } catch (error) {
    // The messages of others, such as of the database driver, stay here.
    const reason = error instanceof Problem ? error.message : 'the stored refresh token could not be used';
    return { failure: { kind: 'unreachable', message: `no access token: ${reason}` } };
  }
}

export function createTokens(clock: Clock): Tokens {
  // What is kept is found by a hash that means nothing outside of this process.
  const salt = randomBytes(32);
  const entries = new Map<string, Entry>();
  const requests = new Map<string, Promise<Granted>>();

  /** The refresh token of stored credentials changes while they stay the same ones. */
  function keyOf(need: TokenNeed, stored: StoredRefreshToken | undefined): string {
    const { refreshToken: _, ...lasting } = need;
    const named = stored === undefined ? need : { ...lasting, version: stored.version };
    return createHmac('sha256', salt).update(JSON.stringify(named)).digest('base64');
  }

  function keep(key: string, entry: Entry): void {
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
  }

  async function renew(key: string, { need, request, stored }: Renewal): Promise<Granted> {
    const newest = entries.get(key)?.refreshToken ?? need.refreshToken;
    const granted =
      stored === undefined
        ? await request({ ...need, refreshToken: newest })
        : await refreshStored({ need, request, stored });
    if ('failure' in granted) {
      // The caller may have a newer one than we do.
      if (newest !== need.refreshToken) entries.delete(key);
      return granted;
    }
    const { accessToken, expiresIn, refreshToken = newest } = granted.token;
    const lifeMs = expiresIn === undefined ? assumedLifeMs : expiresIn * 1000;
    const goodUntil = clock.now() + lifeMs - Math.min(marginMs, lifeMs / 10);
    keep(key, { accessToken, goodUntil, refreshToken });
    return granted;
  }

  return {
    async get(need, request, { wantsFresh = false, stored: given } = {}) {
      const stored = need.grant === 'refresh_token' ? given : undefined;
      const key = keyOf(need, stored);
      const kept = entries.get(key);
      if (!wantsFresh && kept !== undefined && clock.now() < kept.goodUntil) {
        return { use: { accessToken: kept.accessToken, refreshToken: kept.refreshToken, isOld: true } };
      }
      const running = requests.get(key) ?? renew(key, { need, request, stored }).finally(() => requests.delete(key));
      requests.set(key, running);
      const granted = await running;
      if ('failure' in granted) return granted;
      const { accessToken, refreshToken } = granted.token;
      return { use: { accessToken, refreshToken, isOld: false } };
    },
    forget(need, accessToken, given) {
      const kept = entries.get(keyOf(need, need.grant === 'refresh_token' ? given : undefined));
      if (kept?.accessToken === accessToken) kept.goodUntil = 0;
    },
  };
}
