import { Type } from 'typebox';
import { Acknowledgement, CountedList, ListQuery, Success } from '../envelope.ts';
import { Account, AccountUpdate, Member, MemberUpdate } from '../people/people.ts';
import { describeOperations } from './operation.ts';
import { Id, onlySession, ProjectParams } from './request-parts.ts';

const AccountParams = Type.Object({ account_id: Id });
const MemberParams = Type.Object({ project_id: Id, account_id: Id });

const ofProject = 'Requires a session of an administrator of the service or of the project; keys are not accepted.';
const ofService = 'Requires a session of an administrator of the service; keys are not accepted.';

export const peopleOperations = describeOperations('people', {
  listAccounts: {
    summary: 'List the accounts of people',
    description: ofService,
    security: onlySession,
    querystring: ListQuery,
    response: { 200: CountedList(Account) },
    examples: { accounts: {} },
  },
  updateAccount: {
    summary: 'Disable an account, or make it an administrator of the service',
    description: `${ofService} One enabled administrator always remains.`,
    security: onlySession,
    params: AccountParams,
    body: AccountUpdate,
    response: { 200: Success(Account) },
    examples: { account: { body: { is_administrator: false } } },
  },
  deleteAccount: {
    summary: 'Delete an account with the data of its person',
    description: `${ofService} Deletes the name, the e-mail address, sessions, memberships, and the applications that the person allowed. A person who signs in again gets a new account. The account with the password stays.`,
    security: onlySession,
    params: AccountParams,
    response: { 200: Acknowledgement },
    examples: { account: {} },
  },
  listMembers: {
    summary: 'List the members of a project',
    description: `${ofProject} Administrators of the service are in the list only if they are members.`,
    security: onlySession,
    params: ProjectParams,
    querystring: ListQuery,
    response: { 200: CountedList(Member) },
    examples: { members: {} },
  },
  setMember: {
    summary: 'Give an account a role in a project',
    description: `${ofProject} The role replaces one that the identity provider has set, which then no longer changes it. Nobody sets their own role, except an administrator of the service.`,
    security: onlySession,
    params: MemberParams,
    body: MemberUpdate,
    response: { 200: Acknowledgement },
    examples: { member: { body: { role: 'member' } } },
  },
  removeMember: {
    summary: 'Remove an account from a project',
    description: `${ofProject} Applications that the person allowed in the project lose their access within a second.`,
    security: onlySession,
    params: MemberParams,
    response: { 200: Acknowledgement },
    examples: { member: {} },
  },
});
