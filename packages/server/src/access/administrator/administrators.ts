import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PasswordChange, SetUp, SignIn } from '@quartermaster/contract';
import type { Admission } from '../../platform/admission/admission.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import type { NewId } from '../../platform/identifier.ts';
import { createBoundedLog } from '../../platform/log/bounded-log.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { isTemporary } from '../../platform/problem.ts';
import { checkName } from '../../platform/validation/check-name.ts';
import type { Administrator, AdministratorRepository } from './administrator-repository.ts';
import { hashPassword, isOutdated, isPassword } from './password.ts';
import { checkPassword } from './password-policy.ts';
import { setUpLinkRefused, setUpOver, signInRefused, tooManySignIns } from './problems.ts';
import { type FoundSession, hashToken, type NewSession, type SessionOrigin, type Sessions } from './sessions.ts';
import { createSignInThrottle } from './sign-in-throttle.ts';

/** The origin of a request, for the attempt counters and for the new session. */
export interface RequestOrigin extends SessionOrigin {
  /** The device cookie that the browser sent. */
  readonly deviceCookie: string | undefined;
  /** The id of the request for the log. */
  readonly requestId?: string;
}

/** Creates the administrator once, signs the administrator in, and changes the password. */
export interface Administrators {
  /** @throws Problem OBJECT_NOT_FOUND when there is an administrator */
  getSetUp(): Promise<{ readonly expiresAt: number }>;
  /**
   * Creates the administrator and a session.
   * @throws Problem as getSetUp, PERMISSION_DENIED for another or an expired link
   */
  setUp(request: SetUp, origin: RequestOrigin): Promise<NewSession>;
  /** @throws Problem SESSION_VALIDATION_FAILED, TOO_MANY_REQUESTS */
  signIn(credentials: SignIn, origin: RequestOrigin): Promise<NewSession>;
  /** Ends every session and creates a new one. */
  changePassword(found: FoundSession, change: PasswordChange, origin: RequestOrigin): Promise<NewSession>;
}

export interface AdministratorsDeps {
  readonly repository: AdministratorRepository;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly countExceeded?: CountExceeded;
  readonly admission: Admission;
}

interface SignedIn {
  readonly password: string;
  readonly address: string;
}

const mostRefusalsInMinute = 60;

export function createAdministrators(deps: AdministratorsDeps): Administrators {
  const { repository, clock, logger } = deps;
  const throttle = createSignInThrottle(repository, clock.now);
  const semaphore = createPasswordSemaphore(deps.admission);
  const refusals = createBoundedLog(logger, mostRefusalsInMinute);
  const hash = (password: string) => semaphore.run(() => hashPassword(password));
  // The password is compared with this hash when the administrator does not exist, so that the response takes as long.
  let decoy: Promise<string> | undefined;

  async function compare(password: string, administrator: Administrator | undefined, address: string) {
    decoy ??= hash(randomBytes(32).toString('hex'));
    const stored = administrator?.passwordHash ?? (await decoy);
    return (await semaphore.run(() => isPassword(password, stored), address)) && administrator !== undefined;
  }

  async function getSetUp() {
    const token = await repository.findSetUpToken();
    if (token === undefined || (await repository.findAdministrator()) !== undefined) throw setUpOver();
    return { expiresAt: token.expiresAt };
  }

  /** Counts the attempt, compares the password, and reverts the count when it is correct. */
  async function authenticate(credentials: SignIn, origin: RequestOrigin): Promise<Administrator> {
    const only = await repository.findAdministrator();
    const named = only !== undefined && isSameName(only.name, credentials.name) ? only : undefined;
    const attempt = {
      name: credentials.name,
      address: origin.address,
      browser: readDeviceCookie(origin.deviceCookie, named),
    };
    await throttle.admit(attempt).catch((error: unknown) => {
      if (isTemporary(error)) refusals.warn(lineOf('sign_in_refused', origin, named, 'throttled'), 'sign-in refused');
      throw error;
    });
    if (!(await compare(credentials.password, named, origin.address)) || named === undefined) {
      const reason = named === undefined ? 'unknown_name' : 'wrong_password';
      refusals.warn(lineOf('sign_in_refused', origin, named, reason), 'sign-in refused');
      throw signInRefused();
    }
    await throttle.forgive(attempt);
    return named;
  }

  /** @throws Problem SESSION_VALIDATION_FAILED when the password was changed in the meantime */
  async function renewOutdated(administrator: Administrator, { password, address }: SignedIn): Promise<Administrator> {
    if (!isOutdated(administrator.passwordHash)) return administrator;
    const passwordHash = await hash(password);
    if (await repository.renewPasswordHash(administrator, passwordHash)) return { ...administrator, passwordHash };
    // Another sign-in has renewed the hash, or the password was changed.
    const current = await repository.findAdministrator();
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
      const administrator = await semaphore.run(() => newAdministrator(deps, { name, password }));
      if (!(await repository.addAdministrator(administrator, tokenHash, clock.now()))) throw setUpOver();
      logger.info(lineOf('set_up_link_used', origin, administrator), 'setup link used, administrator created');
      return beginSession(deps, administrator, origin);
    },
    signIn: async (credentials, origin) => {
      const administrator = await renewOutdated(await authenticate(credentials, origin), {
        password: credentials.password,
        address: origin.address,
      });
      const begun = await beginSession(deps, administrator, origin);
      logger.info({ ...lineOf('signed_in', origin, administrator), session: begun.session.id }, 'signed in');
      return begun;
    },
    changePassword: async ({ administrator }, change, origin) => {
      await authenticate({ name: administrator.name, password: change.current_password }, origin);
      await semaphore.run(() => checkPassword(change.new_password, administrator.name, 'new_password'));
      const changed: Administrator = {
        ...administrator,
        passwordHash: await hash(change.new_password),
        browserSecret: randomBytes(32).toString('hex'),
        updatedAt: clock.now(),
      };
      await repository.setPassword(changed);
      logger.info(lineOf('password_changed', origin, changed), 'password changed, sessions ended');
      return beginSession(deps, changed, origin);
    },
  };
}

/** Creates a session and logs the sessions that end because of it. */
async function beginSession(
  deps: AdministratorsDeps,
  administrator: Administrator,
  origin: RequestOrigin,
): Promise<NewSession> {
  const begun = await deps.sessions.begin(administrator, origin);
  const { replaced, leastUsed } = begun.ended;
  for (const session of replaced) {
    deps.logger.info({ ...lineOf('session_ended', origin, administrator, 'replaced'), session }, 'session ended');
  }
  for (const session of leastUsed) {
    deps.countExceeded?.('sessions_of_administrator');
    deps.logger.info({ ...lineOf('session_ended', origin, administrator, 'too_many'), session }, 'session ended');
  }
  return begun;
}

/** The log omits a name that is not the administrator's, because people type passwords into the wrong field. */
function lineOf(event: string, origin: RequestOrigin, administrator: Administrator | undefined, reason?: string) {
  return {
    event,
    client: origin.address,
    request_id: origin.requestId,
    ...(administrator === undefined ? {} : { administrator: administrator.id, name: administrator.name }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function isSameName(one: string, other: string): boolean {
  return one.normalize('NFKC').toLowerCase() === other.normalize('NFKC').toLowerCase();
}

/**
 * Limits the number of concurrent password hashes, because each needs memory. A sign-in waits in the share of its address, so
 * that guesses from one address do not delay others; work of a signed-in administrator is never refused.
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
 * Creates the device cookie of a browser that signed in: a random name and a signature with the administrator's secret.
 * It grants no access and only gives the browser a separate attempt counter. A new password invalidates every device
 * cookie.
 */
export function createDeviceCookie(administrator: Administrator): string {
  const name = randomBytes(16).toString('base64url');
  return `${name}.${sign(administrator, name)}`;
}

/** Returns the name in a valid device cookie of this administrator, otherwise null. */
function readDeviceCookie(cookie: string | undefined, administrator: Administrator | undefined): string | null {
  const [name = '', signature = ''] = (cookie ?? '').split('.', 2);
  if (administrator === undefined || !/^[\w-]{22}$/.test(name)) return null;
  const expected = Buffer.from(sign(administrator, name));
  const found = Buffer.from(signature);
  return found.length === expected.length && timingSafeEqual(found, expected) ? name : null;
}

function sign(administrator: Administrator, name: string): string {
  return createHmac('sha256', administrator.browserSecret).update(name).digest('base64url');
}

/**
 * Checks the name and the password and returns an administrator that is not stored yet.
 * @throws Problem REQUEST_VALIDATION_ERROR, which never contains the password
 */
export async function newAdministrator(
  { clock, newId }: { readonly clock: Clock; readonly newId: NewId },
  { name, password }: { readonly name: string; readonly password: string },
): Promise<Administrator> {
  checkName(name, 64);
  await checkPassword(password, name);
  const at = clock.now();
  return {
    id: newId('administrator'),
    name,
    passwordHash: await hashPassword(password),
    browserSecret: randomBytes(32).toString('hex'),
    createdAt: at,
    updatedAt: at,
  };
}
