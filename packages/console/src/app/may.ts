import type { OwnSession, Role } from '@quartermaster/contract';

/** `change` content, `manage` the project with its keys and members, `administer` the whole service. */
export type Action = 'change' | 'manage' | 'administer';

const rolesFor: Readonly<Record<Action, readonly Role[]>> = {
  change: ['member', 'administrator'],
  manage: ['administrator'],
  administer: [],
};

/** Whether the console offers an action. The service checks every request itself. Source: docs/guides/people.md. */
export function may(session: OwnSession, projectId: string, action: Action): boolean {
  const role = session.projects.find(({ project_id }) => project_id === projectId)?.role;
  return session.is_administrator || (role !== undefined && rolesFor[action].includes(role));
}
