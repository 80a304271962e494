import type { AuditFact } from '../../platform/audit/audit.ts';
import type { SignInChanges } from './account-repository.ts';

/** Returns the events of what a sign-in with an identity provider changed of the account. */
export function factsOf(id: string, { isCreated, isAdministrator, roles, endedIn }: SignInChanges): AuditFact[] {
  const source = 'claim';
  const isLost = (projectId: string) => roles.get(projectId) === null;
  const facts: AuditFact[] = [];
  if (isCreated) facts.push({ action: 'account.created', id, details: { source } });
  if (isAdministrator !== undefined) {
    const ended_applications = endedIn.filter((projectId) => !isLost(projectId)).length;
    const details = { source, is_administrator: isAdministrator, ended_applications };
    facts.push({ action: 'account.changed', id, details });
  }
  for (const [projectId, role] of roles) {
    const ended_applications = endedIn.filter((each) => each === projectId).length;
    facts.push(
      role === null
        ? { action: 'member.removed', id, projectId, details: { source, ended_applications } }
        : { action: 'member.set', id, projectId, details: { source, role } },
    );
  }
  return facts;
}
