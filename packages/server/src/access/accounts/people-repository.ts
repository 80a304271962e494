import type { Role } from '@quartermaster/contract';
import type { Account } from './account-repository.ts';

/** An account with its role in a project. */
export interface Member {
  /** Id of the account. */
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
  /** `claim`: the identity provider decides at each sign-in. */
  readonly source: 'manual' | 'claim';
}

export interface AccountChange {
  readonly disabled?: boolean;
  readonly isAdministrator?: boolean;
}

/** How many sessions and applications ended. */
export interface EndedAccess {
  readonly sessions: number;
  readonly applications: number;
}

/** Why an account stays as it is: it does not exist, or nobody could manage the service without it. */
export type Kept = 'absent' | 'last';

/** Stores what people may do. Every change is one transaction, which also ends access that is lost. */
export interface PeopleRepository {
  /** Returns the role of an enabled account; undefined for a project that does not exist for it. */
  findRole(accountId: string, projectId: string): Promise<Role | undefined>;
  /** Returns the projects of which the account is a member. An administrator of the service manages all of them anyway. */
  listRoles(accountId: string): Promise<Array<{ readonly projectId: string; readonly role: Role }>>;
  listAccounts(): Promise<Account[]>;
  /** Ends the sessions and the applications of an account that is disabled. */
  changeAccount(
    id: string,
    change: AccountChange,
    now: number,
  ): Promise<(EndedAccess & { readonly account: Account }) | Kept>;
  /** Deletes the account with everything that names it. The account with the password stays. */
  eraseAccount(id: string): Promise<EndedAccess | 'password' | Kept>;
  /** @returns undefined when the project does not exist */
  listMembers(projectId: string): Promise<Member[] | undefined>;
  /**
   * Gives an account a role, which the identity provider no longer changes.
   * @returns what does not exist
   * @throws Problem OBJECT_NOT_FOUND for a project that is being deleted
   */
  setMember(
    member: Pick<Member, 'id' | 'role'>,
    projectId: string,
    now: number,
  ): Promise<'set' | 'account' | 'project'>;
  /** @returns how many applications ended; undefined when the account is no member */
  removeMember(accountId: string, projectId: string, now: number): Promise<number | undefined>;
}
