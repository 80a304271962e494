import { randomBytes } from 'node:crypto';
import type { PasswordChange, SetUp, SignIn } from '@quartermaster/contract';
import type { Admission } from '../../platform/admission/admission.ts';
import { type AuditSource, actorOf } from '../../platform/audit/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import type { NewId } from '../../platform/identifier.ts';
import { cutText, withoutHiddenCharacters } from '../../platform/plain-name.ts';
import { isTemporary } from '../../platform/problem.ts';
import { checkName } from '../../platform/validation/check-name.ts';
import {
  type AccountRepository,
  type Claims,
  hasPassword,
  type Identity,
  type PasswordAccount,
} from './account-repository.ts';
import { readDeviceCookie } from './device-cookie.ts';
import { hashPassword, isOutdated, isPassword } from './password.ts';
import { checkPassword } from './password-policy.ts';
import { passwordless, setUpLinkRefused, setUpOver, signInRefused, tooManySignIns } from './problems.ts';
import { type FoundSession, hashToken, type NewSession, type SessionOrigin, type Sessions } from './sessions.ts';
import { factsOf } from './sign-in-changes.ts';
import { createSignInThrottle } from './sign-in-throttle.ts';

/** The origin of a request, for the attempt counters and for the new session. */
export interface RequestOrigin extends SessionOrigin {
  /** The device cookie that the browser sent. */
  readonly deviceCookie: string | undefined;
  /** The id of the request for the log. */
  readonly requestId?: string;
}

/** Creates the account with the password once, signs people in, and changes the password. */
export interface Accounts {
  /** @throws Problem OBJECT_NOT_FOUND when there is an account with a password */
  getSetUp(): Promise<{ readonly expiresAt: number }>;
  /**
   * Creates the account with the password and a session.
   * @throws Problem as getSetUp, PERMISSION_DENIED for another or an expired link
   */
  setUp(request: SetUp, origin: RequestOrigin): Promise<NewSession>;
  /** @throws Problem SESSION_VALIDATION_FAILED, TOO_MANY_REQUESTS */
  signIn(credentials: SignIn, origin: RequestOrigin): Promise<NewSession>;
  /**
   * Signs in the person whom an identity provider has identified, and creates the account if `mayCreate`.
   * @throws Problem PERMISSION_DENIED for a disabled account, and for an unknown one without `mayCreate`
   */
  signInWith(identity: Identity, claims: Claims, mayCreate: boolean, origin: RequestOrigin): Promise<NewSession>;
  /**
   * Ends every session and creates a new one.
   * @throws Problem PERMISSION_DENIED for an account without a password
   */
  changePassword(found: FoundSession, change: PasswordChange, origin: RequestOrigin): Promise<NewSession>;
}

export interface AccountsDeps extends Pick<CommonDeps, 'admission' | 'audit' | 'clock' | 'newId'> {
  readonly repository: AccountRepository;
  readonly sessions: Sessions;
  readonly countExceeded?: CountExceeded;
}

interface SignedIn {
  readonly password: string;
  readonly address: string;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  const { repository, clock } = deps;
  const throttle = createSignInThrottle(repository, clock.now);
  const semaphore = createPasswordSemaphore(deps.admission);
  const hash = (password: string) => semaphore.run(() => hashPassword(password));
  // The password is compared with this hash when the account does not exist, so that the response takes as long.
  let decoy: Promise<string> | undefined;

  async function compare(password: string, account: PasswordAccount | undefined, address: string) {
    decoy ??= hash(randomBytes(32).toString('hex'));
    const stored = account?.passwordHash ?? (await decoy);
    return (await semaphore.run(() => isPassword(password, stored), address)) && account !== undefined;
  }

  async function getSetUp() {
    const token = await repository.findSetUpToken();
    if (token === undefined || (await repository.findPasswordAccount()) !== undefined) throw setUpOver();
    return { expiresAt: token.expiresAt };
  }

  /** Counts the attempt, compares the password, and reverts the count when it is correct. */
  async function authenticate(credentials: SignIn, origin: RequestOrigin, by?: string): Promise<PasswordAccount> {
    const only = await repository.findPasswordAccount();
    const named = only !== undefined && isSameName(only.name, credentials.name) ? only : undefined;
    const attempt = {
      name: credentials.name,
      address: origin.address,
      browser: readDeviceCookie(origin.deviceCookie, named),
    };
    await throttle.admit(attempt).catch((error: unknown) => {
      if (isTemporary(error)) recordRefusal(deps, origin, { named, by, reason: 'throttled' });
      throw error;
    });
    if (!(await compare(credentials.password, named, origin.address)) || named === undefined) {
      const reason = named === undefined ? 'unknown_name' : 'wrong_password';
      recordRefusal(deps, origin, { named, by, reason });
      throw signInRefused();
    }
    await throttle.forgive(attempt);
    return named;
  }

  /** @throws Problem SESSION_VALIDATION_FAILED when the password was changed in the meantime */
  async function renewOutdated(account: PasswordAccount, { password, address }: SignedIn): Promise<PasswordAccount> {
    if (!isOutdated(account.passwordHash)) return account;
    const passwordHash = await hash(password);
    if (await repository.renewPasswordHash(account, passwordHash)) return { ...account, passwordHash };
    // Another sign-in has renewed the hash, or the password was changed.
    const current = await repository.findPasswordAccount();
    if (!(await compare(password, current, address)) || current === undefined) throw signInRefused();
    return current;
  }

  return {
    getSetUp,
    setUp: async ({ token, name, password }, origin) => {
      await getSetUp();
      const tokenHash = hashToken(token);
      const stored = await repository.findSetUpToken();
      if (stored?.hash !== tokenHash || clock.now() >= stored.expiresAt) throw setUpLinkRefused();
      const account = await semaphore.run(() => newAccount(deps, { name, password }));
      if (!(await repository.addPasswordAccount(account, tokenHash, clock.now()))) throw setUpOver();
      await recordChange(deps, origin, account, 'account.created');
      return beginSession(deps, account, origin);
    },
    signIn: async (credentials, origin) => {
      const account = await renewOutdated(await authenticate(credentials, origin), {
        password: credentials.password,
        address: origin.address,
      });
      const begun = await beginSession(deps, account, origin);
      return await recordSignIn(deps, begun, origin, 'password');
    },
    signInWith: async ({ name, email, ...identity }, claims, mayCreate, origin) => {
      const bounded = { ...identity, name: plainText(name, 64), email: email === null ? null : plainText(email, 320) };
      const signIn = { identity: bounded, claims, newId: mayCreate ? deps.newId('account') : null };
      const begun = await deps.sessions.beginAs(signIn, origin);
      for (const fact of factsOf(begun.account.id, begun.changes))
        await deps.audit.record(sourceFor(origin, begun.account.id), fact);
      await recordEnded(deps, begun, origin);
      return await recordSignIn(deps, begun, origin, 'oidc');
    },
    changePassword: async ({ account }, change, origin) => {
      if (account.passwordHash === null) throw passwordless();
      const own = await authenticate({ name: account.name, password: change.current_password }, origin, account.id);
      await semaphore.run(() => checkPassword(change.new_password, own.name, 'new_password'));
      const changed: PasswordAccount = {
        ...own,
        passwordHash: await hash(change.new_password),
        browserSecret: randomBytes(32).toString('hex'),
        updatedAt: clock.now(),
      };
      await repository.setPassword(changed);
      await recordChange(deps, origin, changed, 'password.changed');
      return beginSession(deps, changed, origin);
    },
  };
}

/** Creates a session and records the sessions that end because of it. */
async function beginSession(deps: AccountsDeps, account: PasswordAccount, origin: RequestOrigin): Promise<NewSession> {
  const begun = await deps.sessions.begin(account, origin);
  await recordEnded(deps, begun, origin);
  return begun;
}

async function recordEnded(deps: AccountsDeps, { account, ended }: NewSession, origin: RequestOrigin): Promise<void> {
  for (const _ of ended.leastUsed) deps.countExceeded?.('sessions_of_account');
  for (const [reason, ids] of [
    ['replaced', ended.replaced],
    ['too_many', ended.leastUsed],
  ] as const) {
    for (const id of ids) {
      await deps.audit.record(sourceFor(origin, account.id), { action: 'session.ended', id, details: { reason } });
    }
  }
}

async function recordSignIn(
  { audit }: AccountsDeps,
  begun: NewSession,
  origin: RequestOrigin,
  method: 'password' | 'oidc',
): Promise<NewSession> {
  const { account, session } = begun;
  // A name that an identity provider gave must not outlive the account.
  const details = { ...(hasPassword(account) ? { name: account.name } : {}), method };
  await audit.record(sourceFor(origin, account.id), { action: 'signed_in', id: session.id, details });
  return begun;
}

async function recordChange(
  { audit }: AccountsDeps,
  origin: RequestOrigin,
  { id, name }: PasswordAccount,
  action: 'account.created' | 'password.changed',
): Promise<void> {
  await audit.record(sourceFor(origin, id), { action, id, details: { name } });
}

/** The name is left out unless it is that of the account, because people type passwords into the wrong field. */
function recordRefusal(
  { audit }: AccountsDeps,
  origin: RequestOrigin,
  {
    named,
    by,
    reason,
  }: { readonly named: PasswordAccount | undefined; readonly by: string | undefined; readonly reason: string },
): void {
  const details = { reason, name: named?.name };
  audit.recordRefusal(sourceFor(origin, by ?? null), { action: 'sign_in_refused', id: named?.id ?? null, details });
}

function sourceFor({ address, requestId }: RequestOrigin, accountId: string | null): AuditSource {
  return { ...actorOf(accountId), clientAddress: address, requestId: requestId ?? null };
}

/** Truncates what an identity provider says, and replaces control characters and hidden ones. */
function plainText(text: string, most: number): string {
  return cutText(withoutHiddenCharacters(text).replace(/\p{Cc}/gu, ' '), most).toWellFormed();
}

function isSameName(one: string, other: string): boolean {
  return one.normalize('NFKC').toLowerCase() === other.normalize('NFKC').toLowerCase();
}

/**
 * Limits the number of concurrent password hashes, because each needs memory. A sign-in waits in the share of its address, so
 * that guesses from one address do not delay others; work of a signed-in person is never refused.
 */
interface PasswordSemaphore {
  /**
   * @param address of the client that signs in
   * @throws Problem TOO_MANY_REQUESTS
   */
  run<T>(task: () => Promise<T>, address?: string): Promise<T>;
}

export function createPasswordSemaphore(admission: Admission): PasswordSemaphore {
  const queue = admission.queue('passwords', { refuse: () => tooManySignIns(1) });
  return {
    async run(task, address) {
      const owner = { projectId: address ?? null, keyId: null };
      const end = await queue.acquire(owner, { isAccepted: address === undefined });
      try {
        return await task();
      } finally {
        end?.();
      }
    },
  };
}

/**
 * Checks the name and the password and returns an account that is not stored yet.
 * @throws Problem REQUEST_VALIDATION_ERROR, which never contains the password
 */
export async function newAccount(
  { clock, newId }: { readonly clock: Clock; readonly newId: NewId },
  { name, password }: { readonly name: string; readonly password: string },
): Promise<PasswordAccount> {
  checkName(name, 64);
  await checkPassword(password, name);
  const at = clock.now();
  return {
    id: newId('account'),
    name,
    passwordHash: await hashPassword(password),
    browserSecret: randomBytes(32).toString('hex'),
    email: null,
    isAdministrator: true,
    issuer: null,
    subject: null,
    disabledAt: null,
    createdAt: at,
    updatedAt: at,
    lastSignInAt: null,
  };
}
