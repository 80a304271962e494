import { serviceSource } from '../../platform/audit/audit.ts';
import type { CredentialProfileRepository } from '../credential-profiles/credential-profile-repository.ts';
import { type ConnectionRow, type ConnectionSecrets, isConnection } from './connection-rows.ts';
import { ProviderFailure, type Providers } from './provider.ts';
import type { RefreshDeps } from './refresh-connection.ts';

/** What became of a deleted connection. */
export interface Revoked {
  readonly id: string;
  /** Whether the provider confirmed the revocation. */
  readonly provider: boolean;
}

export interface RemovalDeps
  extends Pick<RefreshDeps, 'rows' | 'clients' | 'oauthOf' | 'audit' | 'logger' | 'countEvent'> {
  readonly repository: Pick<CredentialProfileRepository, 'list' | 'remove'>;
  readonly providers: Pick<Providers, 'revoke'>;
}

/** Ends the access of connections: at the provider if possible, and in this service in any case. */
export function createRemovals(deps: RemovalDeps) {
  const { repository } = deps;

  async function remove(row: ConnectionRow): Promise<Revoked> {
    const provider = await revokeAccess(deps, row);
    await repository.remove(row.projectId, row.name);
    deps.countEvent('revoked');
    return { id: row.id, provider };
  }

  /** Ends the deletions that have begun: those of an end user, or all of a project. */
  async function removeDeleting(projectId: string, endUser?: string): Promise<readonly Revoked[]> {
    const removed: Revoked[] = [];
    const filter = { endUser, areConnections: true, areDeleting: true };
    for (;;) {
      const { items } = await repository.list(projectId, { limit: 20 }, filter);
      if (items.length === 0) return removed;
      removed.push(...(await Promise.all(items.filter(isConnection).map(remove))));
    }
  }

  async function removeInBackground(projectId: string): Promise<void> {
    for (const { id, provider } of await removeDeleting(projectId)) {
      await deps.audit.record(serviceSource, { action: 'connection.revoked', id, projectId, details: { provider } });
    }
  }

  return { remove, removeDeleting, removeInBackground };
}

/** Asks the provider to end the access. It never throws: the tokens are erased in any case. */
export async function revokeAccess(
  deps: RemovalDeps,
  row: ConnectionRow,
  secrets?: ConnectionSecrets,
): Promise<boolean> {
  const oauth = deps.oauthOf(row.bundleId);
  if (oauth === undefined) return false;
  try {
    const { credentials, refresh } = secrets ?? deps.rows.open(row);
    const access = credentials[oauth.credential];
    if (typeof access !== 'string') return false;
    return await deps.providers.revoke(await deps.clients.getProvider(row.bundleId, oauth), { access, refresh });
  } catch (error) {
    const reason = error instanceof ProviderFailure ? error.code : 'error';
    deps.logger.warn({ connection_id: row.id, reason }, 'connection not revoked at its provider');
    return false;
  }
}
