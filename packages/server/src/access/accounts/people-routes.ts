import type { Account, Member } from '@quartermaster/contract';
import { peopleOperations } from '@quartermaster/contract/operations';
import { sourceOf } from '../../platform/audit/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import { acknowledgement, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import { pageOf } from '../../platform/list-cursors.ts';
import { objectNotFound } from '../../platform/problem.ts';
import {
  lastAdministrator,
  onlyAdministrators,
  onlyPeople,
  ownRole,
  passwordAccountStays,
} from '../projects/problems.ts';
import type { Account as StoredAccount } from './account-repository.ts';
import type { EndedAccess, PeopleRepository, Member as StoredMember } from './people-repository.ts';

export interface PeopleRoutesDeps {
  readonly people: PeopleRepository;
  readonly guard: ManagerGuard;
  readonly clock: Clock;
}

type Hook = ManagerGuard['manages'];

/** Registers the routes of accounts and members. Keys are refused, because they could grant more than they have. */
export function peopleRoutes(app: App, deps: PeopleRoutesDeps): void {
  accountListRoutes(app, deps);
  accountDeletionRoute(app, deps);
  memberRoutes(app, deps);
}

function accountListRoutes(app: App, { people, guard, clock }: PeopleRoutesDeps): void {
  const onRequest = ofService(guard);
  app.get('/v1/accounts', { onRequest, schema: peopleOperations.listAccounts }, async (request) => {
    return pageOf(await people.listAccounts(), request.query, { kind: 'account', toWire: accountToWire });
  });
  app.patch('/v1/accounts/:account_id', { onRequest, schema: peopleOperations.updateAccount }, async (request) => {
    const { account_id: id } = request.params;
    const { disabled, is_administrator: isAdministrator } = request.body;
    const change = {
      ...(disabled === undefined ? {} : { disabled }),
      ...(isAdministrator === undefined ? {} : { isAdministrator }),
    };
    const changed = await people.changeAccount(id, change, clock.now());
    if (changed === 'absent') throw objectNotFound('account', id);
    if (changed === 'last') throw lastAdministrator();
    const details = { disabled, is_administrator: isAdministrator, ...endedOf(changed) };
    await request.server.audit.record(request, { action: 'account.changed', id, details });
    return successEnvelope(accountToWire(changed.account));
  });
}

function accountDeletionRoute(app: App, { people, guard }: PeopleRoutesDeps): void {
  app.delete(
    '/v1/accounts/:account_id',
    { onRequest: ofService(guard), schema: peopleOperations.deleteAccount },
    async (request) => {
      const { account_id: id } = request.params;
      const outcome = await people.eraseAccount(id);
      if (outcome === 'absent') throw objectNotFound('account', id);
      if (outcome === 'last') throw lastAdministrator();
      if (outcome === 'password') throw passwordAccountStays();
      await request.server.audit.record(request, { action: 'account.deleted', id, details: endedOf(outcome) });
      return acknowledgement;
    },
  );
}

function memberRoutes(app: App, { people, guard, clock }: PeopleRoutesDeps): void {
  const onRequest = ofProject(guard);
  const url = '/v1/projects/:project_id/members';
  app.get(url, { onRequest, schema: peopleOperations.listMembers }, async (request) => {
    const { project_id: projectId } = request.params;
    const all = await people.listMembers(projectId);
    if (all === undefined) throw objectNotFound('project', projectId);
    return pageOf(all, request.query, { kind: 'account', toWire: memberToWire });
  });
  app.put(`${url}/:account_id`, { onRequest, schema: peopleOperations.setMember }, async (request) => {
    const { project_id: projectId, account_id: id } = request.params;
    const { role } = request.body;
    if (guard.managerOf(request).projectId !== null && sourceOf(request).actorId === id) throw ownRole();
    const outcome = await people.setMember({ id, role }, projectId, clock.now());
    if (outcome !== 'set') throw objectNotFound(outcome, outcome === 'account' ? id : projectId);
    await request.server.audit.record(request, { action: 'member.set', id, projectId, details: { role } });
    return acknowledgement;
  });
  app.delete(`${url}/:account_id`, { onRequest, schema: peopleOperations.removeMember }, async (request) => {
    const { project_id: projectId, account_id: id } = request.params;
    const ended_applications = await people.removeMember(id, projectId, clock.now());
    if (ended_applications === undefined) throw objectNotFound('member', id);
    const details = { ended_applications };
    await request.server.audit.record(request, { action: 'member.removed', id, projectId, details });
    return acknowledgement;
  });
}

/** Refuses everybody but administrators of the service, before the body is read. */
export function ofService(guard: ManagerGuard): Hook {
  return async (request, reply) => {
    await guard.manages(request, reply);
    if (guard.managerOf(request).projectId !== null) throw onlyAdministrators();
  };
}

/** Refuses keys. The guard has compared the project of the path with the role. */
function ofProject(guard: ManagerGuard): Hook {
  return async (request, reply) => {
    await guard.manages(request, reply);
    if (guard.managerOf(request).keyId !== null) throw onlyPeople();
  };
}

function endedOf({ sessions, applications }: EndedAccess) {
  return { ended_sessions: sessions, ended_applications: applications };
}

function accountToWire(account: StoredAccount): Account {
  return {
    object: 'Account',
    account_id: account.id,
    name: account.name,
    email: account.email,
    is_administrator: account.isAdministrator,
    disabled: account.disabledAt !== null,
    issuer: account.issuer,
    created_timestamp: account.createdAt,
    last_sign_in_timestamp: account.lastSignInAt,
  };
}

function memberToWire({ id, name, email, role, source }: StoredMember): Member {
  return { object: 'Member', account_id: id, name, email, role, source };
}
