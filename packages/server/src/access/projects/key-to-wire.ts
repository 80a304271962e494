import type { ApiKey } from '@quartermaster/contract';
import type { StoredKey } from './project-repository.ts';

/** Converts a key for lists, which show only the last characters of its text. */
export function keyToWire(key: StoredKey, now: number): ApiKey {
  const isOver = key.expiresAt !== null && key.expiresAt <= now;
  return {
    object: 'ApiKey',
    key_id: key.id,
    project_id: key.projectId,
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    state: key.revokedAt !== null ? 'revoked' : isOver ? 'expired' : 'active',
    created_timestamp: key.createdAt,
    expires_timestamp: key.expiresAt,
    revoked_timestamp: key.revokedAt,
    last_used_timestamp: key.lastUsedAt,
    maker_key_id: key.makerId,
    tools: key.tools === null ? null : [...key.tools],
  };
}
