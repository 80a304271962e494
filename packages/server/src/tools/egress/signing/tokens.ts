import { createHmac, randomBytes } from 'node:crypto';
import type { StoredRefreshToken } from '../../../access/credential-profiles/resolve-credentials.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { EgressResult } from '../../../platform/outbound.ts';
import { Problem } from '../../../platform/problem.ts';
import type { TokenNeed } from './token-need.ts';

/** The token that an endpoint granted. */
export interface GrantedToken {
  readonly accessToken: string;
  /** Lifetime in seconds; undefined when the endpoint did not state it. */
  readonly expiresIn: number | undefined;
  /** A new refresh token that replaces the sent one. */
  readonly refreshToken: string | undefined;
}

/** A token, or the failure of the call. */
export type Granted = { readonly token: GrantedToken } | { readonly failure: Failure };
type Failure = Exclude<EgressResult, { kind: 'response' }>;
export type RequestToken = (need: TokenNeed) => Promise<Granted>;

/** An access token that requests use. */
export interface TokenInUse {
  readonly accessToken: string;
  /** The refresh token for the next token request. No request of a plugin carries it. */
  readonly refreshToken: string | undefined;
  /** Whether the token was requested by an earlier call, so that the server may have revoked it since. */
  readonly isOld: boolean;
}

/**
 * Access tokens, in memory only. Each is cached until it expires, under a keyed hash of its credentials. Concurrent callers with
 * the same credentials share one request.
 */
export interface Tokens {
  /**
   * @param request gets a new one; runs to completion whether or not a caller waits for it
   * @param options.wantsFresh whether to request a new token instead of a cached one
   * @param options.stored where a new refresh token is stored before the access token is used
   */
  get(
    need: TokenNeed,
    request: RequestToken,
    options?: { readonly wantsFresh?: boolean; readonly stored?: StoredRefreshToken | undefined },
  ): Promise<{ readonly use: TokenInUse } | { readonly failure: Failure }>;
  /** Drops a token that the server refused, so that the next `get` requests another. */
  forget(need: TokenNeed, accessToken: string, stored?: StoredRefreshToken): void;
}

interface Entry {
  accessToken: string;
  goodUntil: number;
  /** The refresh token for the next request. Some servers issue a new one each time and refuse the old one. */
  refreshToken: string | undefined;
}

const maxEntries = 10_000;
/** The lifetime of a token whose endpoint stated none. A 401 ends it earlier. */
const assumedLifeMs = 3_600_000;
/** A token is not used in this last part of its lifetime, because the request needs time to arrive. */
const marginMs = 30_000;

interface Renewal {
  readonly need: TokenNeed;
  readonly request: RequestToken;
  readonly stored: StoredRefreshToken | undefined;
}

/** Refreshes with the newest stored token. A new refresh token is stored before the access token is returned. */
async function refreshStored({ need, request, stored }: Renewal & { stored: StoredRefreshToken }): Promise<Granted> {
  try {
    const { granted } = await stored.refresh(need.refreshTokenName ?? '', async (newest) => {
      const granted = await request({ ...need, refreshToken: newest });
      return { granted, rotated: 'token' in granted ? granted.token.refreshToken : undefined };
    });
    return granted;
  } catch (error) {
    // Messages of other components, such as the database driver, are not shown.
    const reason = error instanceof Problem ? error.message : 'the stored refresh token could not be used';
    return { failure: { kind: 'unreachable', message: `no access token: ${reason}` } };
  }
}

export function createTokens(clock: Clock): Tokens {
  // The cache keys are hashed with a salt that exists only in this process.
  const salt = randomBytes(32);
  const entries = new Map<string, Entry>();
  const requests = new Map<string, Promise<Granted>>();

  /** The cache key. A stored refresh token changes while the credentials stay the same, so it is not part of the key. */
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
      // The caller may have a newer refresh token than the cache.
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
    async get(need, request, { wantsFresh = false, stored: storedToken } = {}) {
      const stored = need.grant === 'refresh_token' ? storedToken : undefined;
      const key = keyOf(need, stored);
      const cached = entries.get(key);
      if (!wantsFresh && cached !== undefined && clock.now() < cached.goodUntil) {
        return { use: { accessToken: cached.accessToken, refreshToken: cached.refreshToken, isOld: true } };
      }
      const running = requests.get(key) ?? renew(key, { need, request, stored }).finally(() => requests.delete(key));
      requests.set(key, running);
      const granted = await running;
      if ('failure' in granted) return granted;
      const { accessToken, refreshToken } = granted.token;
      return { use: { accessToken, refreshToken, isOld: false } };
    },
    forget(need, accessToken, storedToken) {
      const cached = entries.get(keyOf(need, need.grant === 'refresh_token' ? storedToken : undefined));
      if (cached?.accessToken === accessToken) cached.goodUntil = 0;
    },
  };
}
