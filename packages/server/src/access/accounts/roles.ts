import { defaultScopes, type Role, withIncluded } from '@quartermaster/contract';
import { createPermissions, everyPermission, type Grant, type Permissions } from '../../platform/permissions.ts';

const everything = { collections: null, tools: null };

/** What a person may do in a project. Source: docs/guides/people.md. */
export const permissionsOf: Readonly<Record<Role, Permissions>> = {
  administrator: everyPermission,
  member: createPermissions({ scopes: [...defaultScopes, 'connections'], ...everything }),
  viewer: createPermissions({ scopes: ['files:read', 'collections:read', 'plugins:read'], ...everything }),
};

/**
 * Returns what is left of a grant for an application, because nothing may do more than the person who allowed it.
 * @param keyIds see `createPermissions`
 */
export function limitToRole({ scopes, ...lists }: Grant, role: Role, keyIds: readonly string[]): Permissions {
  const allowed = [...withIncluded(scopes)].filter((scope) => permissionsOf[role].has(scope));
  return createPermissions({ ...lists, scopes: allowed }, keyIds);
}
