import type { OauthDeclaration } from '@quartermaster/plugin-kit';
import { type Audit, serviceSource } from '../../platform/audit/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type {
  CredentialProfileRepository,
  ProfileFilter,
} from '../credential-profiles/credential-profile-repository.ts';
import type { BundleClients } from './bundle-clients.ts';
import type { ConnectionEvent } from './connection-metrics.ts';
import {
  type ConnectionRow,
  type ConnectionRows,
  type ConnectionSecrets,
  connectionIdOf,
  type Facts,
  isConnection,
  isHeld,
} from './connection-rows.ts';
import { ProviderFailure, type Providers } from './provider.ts';

/** What became of a deleted connection. */
export interface Revoked {
  readonly id: string;
  /** Whether the provider confirmed the revocation. */
  readonly provider: boolean;
}

export interface AccessDeps {
  readonly rows: ConnectionRows;
  readonly repository: Pick<
    CredentialProfileRepository,
    'find' | 'list' | 'remove' | 'isAccountUsed' | 'markDeleting' | 'claimRefresh' | 'releaseRefresh'
  >;
  readonly providers: Pick<Providers, 'refresh' | 'revoke'>;
  readonly clients: Pick<BundleClients, 'getProvider'>;
  /** Undefined for a bundle that does not exist any more or declares none. */
  readonly oauthOf: (bundleId: string) => OauthDeclaration | undefined;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly countEvent: (event: ConnectionEvent) => void;
}

/**
 * Ends access: at the provider if possible, and in this service in any case. All access that the service has and will not use ends here:
 * of deleted connections, and what is held beside a connection and not used.
 */
export function createRemovals(deps: AccessDeps) {
  const { repository, rows } = deps;

  /**
   * Many providers end all access of an account to a client at once, and Slack has one token for all people of a workspace. Access to an
   * account that a connection still uses is therefore erased only.
   */
  async function isInUse(row: ConnectionRow): Promise<boolean> {
    const { account } = row.connection;
    const id = connectionIdOf(row);
    if (account !== null && (await repository.isAccountUsed(row.bundleId, account.id, id))) return true;
    if (!isHeld(row)) return false;
    const used = (await repository.find(row.projectId, connectionIdOf(row)))?.connection;
    const isUsable = used?.status === 'active' || used?.status === 'misconfigured';
    return isUsable && !isOtherAccount(used, row.connection);
  }

  /** @returns whether the provider confirmed the revocation */
  async function remove(row: ConnectionRow): Promise<boolean> {
    const isKept = await isInUse(row);
    const provider = !isKept && (await revokeAccess(deps, row, () => rows.open(row)));
    await repository.remove(row.projectId, row.name);
    if (!isKept || !isHeld(row)) deps.countEvent('revoked');
    return provider;
  }

  /** Ends the deletions that have begun: of one connection or end user, or all of a project. */
  async function removeDeleting(
    projectId: string,
    of: Pick<ProfileFilter, 'endUser' | 'connectionId'> = {},
  ): Promise<readonly Revoked[]> {
    const removed: Revoked[] = [];
    const filter = { ...of, areConnections: true, areDeleting: true };
    const removeOne = async (row: ConnectionRow) => {
      const [id, provider] = [connectionIdOf(row), await remove(row)];
      if (!isHeld(row)) return void removed.push({ id, provider });
      const details = { reason: 'unused', provider };
      await deps.audit.record(serviceSource, { action: 'connection.refused', id, projectId, details });
    };
    for (;;) {
      const { items } = await repository.list(projectId, { limit: 20 }, filter);
      if (items.length === 0) return removed;
      await Promise.all(items.filter(isConnection).map(removeOne));
    }
  }

  async function removeInBackground(projectId: string): Promise<void> {
    for (const { id, provider } of await removeDeleting(projectId)) {
      await deps.audit.record(serviceSource, { action: 'connection.revoked', id, projectId, details: { provider } });
    }
  }

  /**
   * Stores access that a provider has given, before anything else can fail.
   * @throws Problem OBJECT_NOT_FOUND when the deletion of the connection has begun; the access is revoked then
   */
  async function hold(of: ConnectionRow, secrets: ConnectionSecrets, facts: Facts): Promise<ConnectionRow> {
    let held: ConnectionRow | undefined;
    try {
      held = await rows.hold(of, secrets, facts);
      await rows.get(of.projectId, of.id);
      return held;
    } catch (error) {
      await (held === undefined ? revokeAccess(deps, of, () => secrets) : remove(held));
      throw error;
    }
  }

  return { remove, removeDeleting, removeInBackground, hold };
}

export type Removals = ReturnType<typeof createRemovals>;

/** Whether both accounts are known and differ. */
export function isOtherAccount(
  one: Pick<Required<Facts>, 'account'>,
  other: Pick<Required<Facts>, 'account'>,
): boolean {
  return one.account !== null && other.account !== null && one.account.id !== other.account.id;
}

/** Asks the provider to end the access. It never throws: the tokens are erased in any case. */
async function revokeAccess(deps: AccessDeps, row: ConnectionRow, open: () => ConnectionSecrets): Promise<boolean> {
  const oauth = deps.oauthOf(row.bundleId);
  if (oauth === undefined) return false;
  try {
    const { credentials, refresh } = open();
    const access = credentials[oauth.credential];
    if (typeof access !== 'string') return false;
    return await deps.providers.revoke(await deps.clients.getProvider(row.bundleId, oauth), { access, refresh });
  } catch (error) {
    const reason = error instanceof ProviderFailure ? error.code : 'error';
    deps.logger.warn({ connection_id: row.id, reason }, 'connection not revoked at its provider');
    return false;
  }
}
