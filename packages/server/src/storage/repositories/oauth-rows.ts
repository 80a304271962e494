import type { Selectable } from 'kysely';
import type { StoredClient, StoredGrant, StoredRecord } from '../../access/oauth/oauth-repository.ts';
import type { OauthClientTable, OauthGrantTable, OauthRecordTable } from '../database/oauth-tables.ts';

export function toRecord(row: Selectable<OauthRecordTable>): StoredRecord {
  return {
    model: row.model,
    hash: row.hash,
    grantId: row.grant_id,
    payload: JSON.parse(row.payload) as StoredRecord['payload'], // written above
    expiresAt: row.expires_at,
    consumedAt: row.consumed_at,
    uses: row.uses,
  };
}

export function toGrantRow(grant: StoredGrant): Selectable<OauthGrantTable> {
  return {
    id: grant.id,
    client_id: grant.clientId,
    account_id: grant.accountId,
    project_id: grant.projectId,
    resource: grant.resource,
    scopes: JSON.stringify(grant.scopes),
    collections: grant.collections === null ? null : JSON.stringify(grant.collections),
    tools: grant.tools === null ? null : JSON.stringify(grant.tools),
    created_at: grant.createdAt,
    expires_at: grant.expiresAt,
    last_used_at: grant.lastUsedAt,
    revoked_at: grant.revokedAt,
  };
}

export function toGrant(row: Selectable<OauthGrantTable>): StoredGrant {
  const list = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[])); // written above
  return {
    id: row.id,
    clientId: row.client_id,
    accountId: row.account_id,
    projectId: row.project_id,
    resource: row.resource,
    scopes: JSON.parse(row.scopes) as StoredGrant['scopes'], // written above
    collections: list(row.collections),
    tools: list(row.tools),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

export function toClientRow({ id, kind, metadata, createdAt, freshUntil }: StoredClient): Selectable<OauthClientTable> {
  return { id, kind, metadata: JSON.stringify(metadata), created_at: createdAt, fresh_until: freshUntil };
}

export function toClient(row: Selectable<OauthClientTable>): StoredClient {
  const metadata = JSON.parse(row.metadata) as StoredClient['metadata']; // written above
  return { id: row.id, kind: row.kind, metadata, createdAt: row.created_at, freshUntil: row.fresh_until };
}
