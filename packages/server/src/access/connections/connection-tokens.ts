import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { connectionMember } from '@quartermaster/contract';
import type { OauthDeclaration } from '@quartermaster/plugin-kit';
import { type Audit, serviceSource } from '../../platform/audit/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import { type RetryPolicy, retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { objectNotFound } from '../../platform/problem.ts';
import type {
  CredentialProfileRepository,
  StoredConnection,
  StoredProfile,
} from '../credential-profiles/credential-profile-repository.ts';
import { placeOf } from '../credential-profiles/credential-profiles.ts';
import type { Encrypter } from '../credential-profiles/encryption.ts';
import { encryptionNotConfigured, profileKeyMissing, profileUnreadable } from '../credential-profiles/problems.ts';
import type { ResolveCredentials } from '../credential-profiles/resolve-credentials.ts';
import { apiKeyRejected, scopeMissing } from '../projects/problems.ts';
import type { BundleClients } from './bundle-clients.ts';
import type { ConnectionEvent } from './connection-metrics.ts';
import { clientRefused, connectionNotActive, connectionReferenceInvalid, refreshUnavailable } from './problems.ts';
import { ProviderFailure, type Providers, type Tokens } from './provider.ts';

type Named = Record<string, unknown>;

/** A stored profile that is a connection. */
export interface ConnectionRow extends StoredProfile {
  readonly connection: StoredConnection;
}

/** The encrypted part of a connection. */
export interface ConnectionSecrets {
  readonly credentials: Named;
  /** The refresh token, if the provider gave one. */
  readonly refresh?: string | undefined;
}

export interface ConnectionTokensDeps {
  readonly repository: CredentialProfileRepository;
  readonly encrypter: Encrypter | null;
  readonly providers: Pick<Providers, 'refresh'>;
  readonly clients: Pick<BundleClients, 'getProvider'>;
  /** Undefined for a bundle that does not exist any more or declares none. */
  readonly oauthOf: (bundleId: string) => OauthDeclaration | undefined;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly countEvent: (event: ConnectionEvent) => void;
  readonly timing?: RefreshTiming;
}

/** Milliseconds. */
export interface RefreshTiming {
  /** Longer than a token request and its waits. */
  readonly claim: number;
  /** The pause after an earlier refresh did not finish, because its process may still store the answer. */
  readonly doubt: number;
}

/** The credentials of connections: reads, stores and refreshes them. ADR 0179. */
export interface ConnectionTokens {
  /** @throws Problem OBJECT_NOT_FOUND for one of another project or of a bundle that the caller does not see */
  get(projectId: string, id: string, permissions?: Permissions): Promise<ConnectionRow>;
  open(row: ConnectionRow): ConnectionSecrets;
  /** @returns false, without a change, when the row was changed concurrently */
  save(row: ConnectionRow, secrets: ConnectionSecrets, facts: Partial<StoredConnection>): Promise<boolean>;
  /** Changes the facts only. */
  mark(row: ConnectionRow, facts: Partial<StoredConnection>): Promise<void>;
  encrypt(
    secrets: ConnectionSecrets,
    place: Pick<StoredProfile, 'projectId' | 'bundleId' | 'name'>,
  ): Pick<StoredProfile, 'encrypted' | 'keyId'>;
  readonly resolve: ResolveCredentials;
}

const defaultTiming: RefreshTiming = { claim: 30_000, doubt: 5000 };
const storeRetries: RetryPolicy = { firstMs: 400 };
const maxStoreTries = 4;

/** When an access token expires, and when it is refreshed: before that, so that the old one serves until the new one is stored. */
export function livesOf({ expiresIn }: Tokens, now: number) {
  if (expiresIn === undefined) return { accessExpiresAt: null, refreshAt: null };
  const life = expiresIn * 1000;
  return { accessExpiresAt: now + life, refreshAt: now + life - Math.min(60_000, life / 10) };
}

export function createConnectionTokens(deps: ConnectionTokensDeps): ConnectionTokens {
  const { repository, clock, logger, timing = defaultTiming } = deps;
  /** The refreshes of this process, which its callers share. */
  const running = new Map<string, Promise<Named>>();
  /** New tokens that could not be stored, with the refresh token that they replace. */
  const unstored = new Map<string, { readonly used: string; readonly tokens: Tokens; readonly at: number }>();

  function encrypter(): Encrypter {
    if (deps.encrypter === null) throw encryptionNotConfigured();
    return deps.encrypter;
  }

  async function get(projectId: string, id: string, permissions?: Permissions): Promise<ConnectionRow> {
    const row = await repository.find(projectId, id);
    if (row === undefined || !isConnection(row) || permissions?.seesBundle(row.bundleId) === false) {
      throw objectNotFound('connection', id);
    }
    return row;
  }

  function open(row: ConnectionRow): ConnectionSecrets {
    const plain = encrypter().decrypt(row.encrypted, placeOf(row));
    if (plain === null && !encrypter().knows(row.keyId)) throw profileKeyMissing(row.name, row.keyId);
    if (plain === null) throw profileUnreadable(row.name);
    return parseJson(plain) as ConnectionSecrets; // written by `encrypt`
  }

  function encrypt(secrets: ConnectionSecrets, place: Pick<StoredProfile, 'projectId' | 'bundleId' | 'name'>) {
    const { text: encrypted, keyId } = encrypter().encrypt(JSON.stringify(secrets), placeOf(place));
    return { encrypted, keyId };
  }

  const save: ConnectionTokens['save'] = (row, secrets, facts) =>
    repository.replace(row, {
      ...encrypt(secrets, row),
      updatedAt: clock.now(),
      connection: { ...row.connection, ...facts },
    });

  async function mark(row: ConnectionRow, facts: Partial<StoredConnection>): Promise<void> {
    for (let current = row; !(await save(current, open(current), facts)); ) {
      current = await get(row.projectId, row.id);
    }
  }

  function isDue({ connection: { refreshAt } }: ConnectionRow): boolean {
    return refreshAt !== null && clock.now() >= refreshAt;
  }

  /** @throws Problem when runs cannot use the connection */
  function openActive(row: ConnectionRow): ConnectionSecrets {
    const { status, reason } = row.connection;
    if (status === 'misconfigured') throw clientRefused(row.bundleId, reason ?? 'unknown');
    if (status !== 'active') throw connectionNotActive(row.id, status, reason);
    return open(row);
  }

  async function use(row: ConnectionRow): Promise<Named> {
    const { accessExpiresAt } = row.connection;
    const { credentials, refresh: refreshToken } = openActive(row);
    if (!isDue(row)) return credentials;
    if (refreshToken === undefined) {
      if (accessExpiresAt !== null && clock.now() >= accessExpiresAt) throw await fail(row, 'expired');
      return credentials;
    }
    const shared = running.get(row.id) ?? refresh(row).finally(() => running.delete(row.id));
    running.set(row.id, shared);
    return await shared;
  }

  /** Returns the error of a connection that must be connected again. */
  async function fail(
    row: ConnectionRow,
    reason: string,
    status: 'reconnect_required' | 'misconfigured' = 'reconnect_required',
  ) {
    await mark(row, { status, reason });
    deps.countEvent(status === 'misconfigured' ? 'misconfigured' : 'refresh_refused');
    const fact = { action: 'connection.refresh_failed', id: row.id, projectId: row.projectId } as const;
    await deps.audit.record(serviceSource, { ...fact, details: { status, reason } });
    return status === 'misconfigured'
      ? clientRefused(row.bundleId, reason)
      : connectionNotActive(row.id, status, reason);
  }

  async function refresh(row: ConnectionRow): Promise<Named> {
    const claim = randomUUID();
    const until = clock.now() + timing.claim + timing.doubt;
    for (let current = row; ; current = await get(row.projectId, row.id)) {
      if (current !== row && !isDue(current)) return openActive(current).credentials;
      const found = await repository.claimRefresh(row.id, claim, timing.claim);
      if (found !== 'busy') return await refreshClaimed(current, { claim, isInDoubt: found === 'expired' });
      // The old token serves while another process refreshes.
      if (clock.now() < (current.connection.accessExpiresAt ?? 0)) return open(current).credentials;
      if (clock.now() > until) throw refreshUnavailable(row.id);
      await pause(20 + Math.random() * 30);
    }
  }

  async function refreshClaimed(row: ConnectionRow, { claim, isInDoubt }: { claim: string; isInDoubt: boolean }) {
    try {
      if (isInDoubt) {
        logger.warn({ connection_id: row.id }, 'token refresh in doubt: an earlier refresh did not finish');
        await pause(timing.doubt);
      }
      const current = await get(row.projectId, row.id);
      const { credentials, refresh: used } = openActive(current);
      if (!isDue(current) || used === undefined) return credentials;
      const waiting = unstored.get(row.id);
      if (waiting?.used === used) return await store(current, waiting);
      const tokens = await request(current, { used, isInDoubt });
      return tokens === null ? credentials : await store(current, { used, tokens, at: clock.now() });
    } finally {
      await repository.releaseRefresh(row.id, claim).catch((error: unknown) => {
        logger.warn(
          { connection_id: row.id, err: error },
          'claim of a token refresh not released: it expires by itself',
        );
      });
    }
  }

  /** @returns null when the provider gave no token but the old one still serves */
  async function request(row: ConnectionRow, { used, isInDoubt }: { used: string; isInDoubt: boolean }) {
    try {
      const oauth = deps.oauthOf(row.bundleId);
      if (oauth === undefined) throw new ProviderFailure('unavailable', 'bundle_missing');
      return await deps.providers.refresh(await deps.clients.getProvider(row.bundleId, oauth), used);
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      if (error.kind === 'misconfigured') throw await fail(row, error.code, 'misconfigured');
      if (error.kind === 'refused') throw await fail(row, isInDoubt ? 'outcome_unknown' : 'refused');
      deps.countEvent('provider_unavailable');
      logger.warn({ connection_id: row.id, bundle_id: row.bundleId, reason: error.code }, 'connection not refreshed');
      if (clock.now() < (row.connection.accessExpiresAt ?? 0)) return null;
      throw refreshUnavailable(row.id, error.retryAfter);
    }
  }

  /** Stores the tokens before they are used, because the provider may accept the old refresh token no more. */
  async function store(row: ConnectionRow, rotation: { used: string; tokens: Tokens; at: number }): Promise<Named> {
    const { used, tokens, at } = rotation;
    unstored.set(row.id, rotation);
    for (let tries = 1, current = row; ; tries++) {
      try {
        const { credentials, refresh: stored } = open(current);
        if (stored !== used) break;
        // The name of the credential that has the access token is the only one of a connection with OAuth.
        const renewed = Object.fromEntries(Object.keys(credentials).map((name) => [name, tokens.access]));
        const secrets = { credentials: renewed, refresh: tokens.refresh ?? used };
        if (await save(current, secrets, livesOf(tokens, at))) {
          unstored.delete(row.id);
          deps.countEvent('refreshed');
          return renewed;
        }
      } catch (error) {
        if (tries >= maxStoreTries) {
          logger.error({ connection_id: row.id, err: error }, 'token refresh in doubt: the new tokens were not stored');
          throw refreshUnavailable(row.id);
        }
        await pause(retryDelayMs(storeRetries, tries));
      }
      current = await get(row.projectId, row.id);
    }
    // The end user has connected again meanwhile.
    unstored.delete(row.id);
    return openActive(await get(row.projectId, row.id)).credentials;
  }

  const resolve: ResolveCredentials = async ({ projectId, permissions }, bundleId, given) => {
    if (projectId === null) throw apiKeyRejected();
    const { [connectionMember]: id, ...others } = given;
    if (typeof id !== 'string')
      throw connectionReferenceInvalid('a value that is not a string', 'the id of a connection');
    if (Object.keys(others).length > 0) {
      throw connectionReferenceInvalid('other members too', 'the only member of credentials');
    }
    if (permissions?.has('connections') === false) throw scopeMissing('connections');
    const row = await get(projectId, id, permissions);
    if (row.bundleId !== bundleId) {
      const bundle = JSON.stringify(bundleId.slice(0, 64));
      throw connectionReferenceInvalid('a connection of another bundle', `a connection of the bundle ${bundle}`);
    }
    return { credentials: await use(row) };
  };

  return { get, open, save, mark, encrypt, resolve };
}

export function isConnection(row: StoredProfile): row is ConnectionRow {
  return row.connection !== null;
}
