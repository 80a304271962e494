import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { serviceSource } from '../../platform/audit/audit.ts';
import { type RetryPolicy, retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import { Problem } from '../../platform/problem.ts';
import type { RenewCredentials } from '../credential-profiles/resolve-credentials.ts';
import type { ConnectionRow, ConnectionRows, ConnectionSecrets } from './connection-rows.ts';
import { clientRefused, connectionNotActive, refreshUnavailable } from './problems.ts';
import { ProviderFailure, type Tokens } from './provider.ts';
import { type AccessDeps, createRemovals } from './remove-connections.ts';

type Named = Record<string, unknown>;

export interface RefreshDeps extends AccessDeps {
  readonly timing?: RefreshTiming | undefined;
}

/** Milliseconds. */
export interface RefreshTiming {
  /** Longer than a token request and its waits. */
  readonly claim: number;
  /** The pause after an earlier refresh did not finish, because its process may still store the answer. */
  readonly doubt: number;
}

/** A third party that refuses a younger token has another reason, such as a missing right. */
const youngMs = 5000;
const defaultTiming: RefreshTiming = { claim: 30_000, doubt: 5000 };
const storeRetries: RetryPolicy = { firstMs: 400 };
const maxStoreTries = 4;

/** When an access token expires, and when it is refreshed: before that, so that the old one serves until the new one is stored. */
export function livesOf({ expiresIn }: Tokens, now: number) {
  if (expiresIn === undefined) return { accessExpiresAt: null, refreshAt: null };
  const life = expiresIn * 1000;
  return { accessExpiresAt: now + life, refreshAt: now + life - Math.min(60_000, life / 10) };
}

/** Connections as runs use them. Their tokens are refreshed once at a time in all processes. */
export interface UsedConnections {
  /** Returns the credentials, which it refreshes when they are about to expire. */
  readonly use: (row: ConnectionRow) => Promise<Named>;
  /** Undefined for a connection without OAuth. */
  readonly renewOf: (row: ConnectionRow) => RenewCredentials | undefined;
}

export function createUsedConnections(deps: RefreshDeps): UsedConnections {
  const { rows, repository, clock, logger, timing = defaultTiming } = deps;
  /** The refreshes of this process, which its callers share. */
  const running = new Map<string, Promise<Named>>();
  const store = createTokenStore(deps);
  /** @param refused the access token that the third party refused */
  const isDue = (row: ConnectionRow, refused?: string) => {
    const { refreshAt } = row.connection;
    if (refused !== undefined) return accessOf(openActive(rows, row).credentials) === refused;
    return refreshAt !== null && clock.now() >= refreshAt;
  };

  async function refresh(row: ConnectionRow, refused?: string): Promise<Named> {
    const claim = randomUUID();
    const until = clock.now() + timing.claim + timing.doubt;
    for (let current = row; ; current = await rows.get(row.projectId, row.id)) {
      if (current !== row && !isDue(current, refused)) return openActive(rows, current).credentials;
      const found = await repository.claimRefresh(row.id, claim, timing.claim);
      if (found !== 'busy') {
        return await refreshClaimed(row, found === 'expired', refused).finally(() => release(row, claim));
      }
      // The old token serves while another process refreshes.
      const serves = refused === undefined && clock.now() < (current.connection.accessExpiresAt ?? 0);
      if (serves) return openActive(rows, current).credentials;
      if (clock.now() > until) throw refreshUnavailable(row.id);
      await pause(20 + Math.random() * 30);
    }
  }

  const release = (row: ConnectionRow, claim: string) =>
    repository.releaseRefresh(row.id, claim).catch((error: unknown) => {
      logger.warn({ connection_id: row.id, err: error }, 'claim of a token refresh not released: it expires by itself');
    });

  async function refreshClaimed(row: ConnectionRow, isInDoubt: boolean, refused?: string): Promise<Named> {
    if (isInDoubt) {
      logger.warn({ connection_id: row.id }, 'token refresh in doubt: an earlier refresh did not finish');
      await pause(timing.doubt);
    }
    const current = await rows.get(row.projectId, row.id);
    const { credentials, refresh: used } = openActive(rows, current);
    if (!isDue(current, refused) || used === undefined) return credentials;
    const waiting = store.findUnstored(row.id, used);
    if (waiting !== undefined) return await store.put(current, waiting);
    const tokens = await request(deps, current, { used, isInDoubt });
    return tokens === null ? credentials : await store.put(current, { used, tokens, at: clock.now() });
  }

  async function share(row: ConnectionRow, refused?: string): Promise<Named> {
    const shared = running.get(row.id) ?? refresh(row, refused).finally(() => running.delete(row.id));
    running.set(row.id, shared);
    return await shared;
  }

  async function use(row: ConnectionRow): Promise<Named> {
    const { credentials, refresh: refreshToken } = openActive(rows, row);
    if (!isDue(row)) return credentials;
    if (refreshToken === undefined) {
      const { accessExpiresAt } = row.connection;
      if (accessExpiresAt !== null && clock.now() >= accessExpiresAt) throw await fail(deps, row, 'expired');
      return credentials;
    }
    return await share(row);
  }

  async function renew({ projectId, id }: ConnectionRow, refused: string): Promise<Named | null> {
    const row = await rows.get(projectId, id);
    const { credentials, refresh: refreshToken } = openActive(rows, row);
    if (accessOf(credentials) !== refused) return credentials;
    // A new token is not the reason.
    if (clock.now() - row.updatedAt < youngMs) return null;
    if (refreshToken === undefined) throw await fail(deps, row, 'refused');
    const renewed = await share(row, refused);
    return accessOf(renewed) === refused ? null : renewed;
  }

  return {
    use,
    renewOf: (row) =>
      deps.oauthOf(row.bundleId) &&
      (async (refused) => {
        try {
          return await renew(row, refused);
        } catch (error) {
          if (!(error instanceof Problem)) logger.error({ connection_id: row.id, err: error }, 'token not renewed');
          return null;
        }
      }),
  };
}

/** The access token is the only credential of a connection with OAuth. */
function accessOf(credentials: Named): unknown {
  return Object.values(credentials)[0];
}

/** @throws Problem when runs cannot use the connection */
function openActive(rows: ConnectionRows, row: ConnectionRow): ConnectionSecrets {
  const { status, reason } = row.connection;
  if (status === 'misconfigured') throw clientRefused(row.bundleId, reason ?? 'unknown');
  if (status !== 'active') throw connectionNotActive(row.id, status, reason);
  return rows.open(row);
}

/** Returns the error of a connection that must be connected again, or whose client must be corrected. */
async function fail(
  { rows, countEvent, audit }: RefreshDeps,
  row: ConnectionRow,
  reason: string,
  status: 'reconnect_required' | 'misconfigured' = 'reconnect_required',
) {
  await rows.mark(row, { status, reason });
  countEvent(status === 'misconfigured' ? 'misconfigured' : 'refresh_refused');
  const fact = { action: 'connection.refresh_failed', id: row.id, projectId: row.projectId } as const;
  await audit.record(serviceSource, { ...fact, details: { status, reason } });
  return status === 'misconfigured' ? clientRefused(row.bundleId, reason) : connectionNotActive(row.id, status, reason);
}

/** @returns null when the provider gave no token but the old one still serves */
async function request(
  deps: RefreshDeps,
  row: ConnectionRow,
  { used, isInDoubt }: { readonly used: string; readonly isInDoubt: boolean },
): Promise<Tokens | null> {
  try {
    const oauth = deps.oauthOf(row.bundleId);
    if (oauth === undefined) throw new ProviderFailure('unavailable', 'bundle_missing');
    return await deps.providers.refresh(await deps.clients.getProvider(row.bundleId, oauth), used);
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    if (error.kind === 'misconfigured') throw await fail(deps, row, error.code, 'misconfigured');
    if (error.kind === 'refused') throw await fail(deps, row, isInDoubt ? 'outcome_unknown' : 'refused');
    deps.countEvent('provider_unavailable');
    deps.logger.warn(
      { connection_id: row.id, bundle_id: row.bundleId, reason: error.code },
      'connection not refreshed',
    );
    if (deps.clock.now() < (row.connection.accessExpiresAt ?? 0)) return null;
    throw refreshUnavailable(row.id, error.retryAfter);
  }
}

interface Rotation {
  /** The refresh token that the new tokens replace. */
  readonly used: string;
  readonly tokens: Tokens;
  readonly at: number;
}

/** Stores new tokens before they are used, because the provider may accept the old refresh token no more. */
function createTokenStore(deps: RefreshDeps) {
  const { rows, logger, countEvent } = deps;
  const removals = createRemovals(deps);
  /** New tokens that could not be stored. The next refresh stores them first. */
  const unstored = new Map<string, Rotation>();

  /** @returns undefined when the row was changed concurrently */
  async function putOnce(
    row: ConnectionRow,
    { used, tokens, at }: Rotation,
    from: ConnectionRow,
  ): Promise<Named | undefined> {
    const { credentials, refresh: stored } = openActive(rows, row);
    const secrets = secretsOf(row, { used, tokens });
    if (stored !== used) {
      // The end user has connected again meanwhile.
      await removals.remove(await rows.hold(from, secrets, {}));
      return credentials;
    }
    if (!(await rows.save(row, secrets, livesOf(tokens, at)))) return undefined;
    countEvent('refreshed');
    return secrets.credentials;
  }

  function secretsOf(row: ConnectionRow, { used, tokens }: Pick<Rotation, 'used' | 'tokens'>) {
    const names = Object.keys(rows.open(row).credentials);
    return {
      credentials: Object.fromEntries(names.map((name) => [name, tokens.access])),
      refresh: tokens.refresh ?? used,
    };
  }

  return {
    findUnstored: (id: string, used: string) => {
      const found = unstored.get(id);
      return found?.used === used ? found : undefined;
    },
    async put(row: ConnectionRow, rotation: Rotation): Promise<Named> {
      unstored.set(row.id, rotation);
      for (let tries = 1, current = row; ; tries++) {
        try {
          const stored = await putOnce(current, rotation, row);
          if (stored !== undefined) {
            unstored.delete(row.id);
            return stored;
          }
          current = await rows.get(row.projectId, row.id);
        } catch (error) {
          if (error instanceof Problem && error.code === 'OBJECT_NOT_FOUND') {
            // The connection was deleted meanwhile. This revokes the new tokens, and throws the same error.
            unstored.delete(row.id);
            await removals.hold(row, secretsOf(row, rotation), {});
          }
          if (tries >= maxStoreTries) {
            logger.error(
              { connection_id: row.id, err: error },
              'token refresh in doubt: the new tokens were not stored',
            );
            throw refreshUnavailable(row.id);
          }
          await pause(retryDelayMs(storeRetries, tries));
        }
      }
    },
  };
}
