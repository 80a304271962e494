import { randomBytes } from 'node:crypto';
import type { PasswordChange, SetUp, SignIn } from '@quartermaster/contract';
import { checkName } from '../kernel/check-name.ts';
import type { Clock } from '../kernel/clock.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Administrator, AdministratorRepository } from './administrator-repository.ts';
import { readBrowserMark } from './browser-mark.ts';
import { createHashingLine } from './hashing-line.ts';
import { hashPassword, isOutdated, isPassword } from './password.ts';
import { checkPassword } from './password-policy.ts';
import { setUpLinkRefused, setUpOver, signInRefused } from './problems.ts';
import { type FoundSession, hashToken, type NewSession, type Sessions } from './sessions.ts';
import { createSignInThrottle } from './sign-in-throttle.ts';

/** Where a request came from, as far as it counts for the number of attempts. */
export interface Comer {
  readonly address: string;
  /** The browser mark that was sent. */
  readonly mark: string | undefined;
}

/** The administrator: made once, signs in, changes the password. */
export interface Administrators {
  /** @throws Problem OBJECT_NOT_FOUND once there is an administrator. */
  getSetUp(): Promise<{ readonly expiresAt: number }>;
  /** Makes the administrator and a session. @throws Problem as getSetUp, PERMISSION_DENIED for another or an old link. */
  setUp(wish: SetUp): Promise<NewSession>;
  /** @throws Problem SESSION_VALIDATION_FAILED, TOO_MANY_REQUESTS */
  signIn(wish: SignIn, comer: Comer): Promise<NewSession>;
  /** Ends every session and begins a new one. */
  changePassword(found: FoundSession, change: PasswordChange, comer: Comer): Promise<NewSession>;
}

export interface AdministratorsDeps {
  readonly repository: AdministratorRepository;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}

export function createAdministrators(deps: AdministratorsDeps): Administrators {
  const { repository, sessions, clock, logger } = deps;
  const throttle = createSignInThrottle(repository, clock.now);
  const line = createHashingLine();
  const hash = (password: string) => line.run(() => hashPassword(password));
  // Compared with when there is no such administrator, so that the answer takes as long.
  let decoy: Promise<string> | undefined;

  async function compare(password: string, administrator: Administrator | undefined): Promise<boolean> {
    decoy ??= hash(randomBytes(32).toString('hex'));
    const stored = administrator?.passwordHash ?? (await decoy);
    return (await line.run(() => isPassword(password, stored))) && administrator !== undefined;
  }

  async function getSetUp() {
    const token = await repository.findSetUpToken();
    if (token === undefined || (await repository.findAdministrator()) !== undefined) throw setUpOver();
    return { expiresAt: token.expiresAt };
  }

  /** Counts the attempt, compares, and forgets the count when the password was right. */
  async function authenticate(wish: SignIn, comer: Comer): Promise<Administrator> {
    const only = await repository.findAdministrator();
    const named = only !== undefined && isSameName(only.name, wish.name) ? only : undefined;
    const attempt = { name: wish.name, address: comer.address, browser: readBrowserMark(comer.mark, named) };
    await throttle.admit(attempt);
    if (!(await compare(wish.password, named)) || named === undefined) {
      logger.warn({ event: 'sign_in_refused', address: comer.address }, 'sign-in refused');
      throw signInRefused();
    }
    await throttle.forgive(attempt);
    return named;
  }

  return {
    getSetUp,
    setUp: async ({ token, name, password }) => {
      await getSetUp();
      const tokenHash = hashToken(token);
      const stored = await repository.findSetUpToken();
      if (stored?.hash !== tokenHash || clock.now() >= stored.expiresAt) throw setUpLinkRefused();
      checkName(name, 64);
      checkPassword(password, name);
      const at = clock.now();
      const administrator: Administrator = {
        id: deps.newId('administrator'),
        name,
        passwordHash: await hash(password),
        browserSecret: randomBytes(32).toString('hex'),
        createdAt: at,
        updatedAt: at,
      };
      if (!(await repository.addAdministrator(administrator, tokenHash, clock.now()))) throw setUpOver();
      logger.info({ event: 'administrator_made', administrator_id: administrator.id }, 'the administrator was made');
      return sessions.begin(administrator);
    },
    signIn: async (wish, comer) => {
      let administrator = await authenticate(wish, comer);
      if (isOutdated(administrator.passwordHash)) {
        administrator = { ...administrator, passwordHash: await hash(wish.password) };
        await repository.setPassword(administrator, false);
      }
      logger.info({ event: 'signed_in', administrator_id: administrator.id, address: comer.address }, 'signed in');
      return sessions.begin(administrator);
    },
    changePassword: async ({ administrator }, change, comer) => {
      await authenticate({ name: administrator.name, password: change.current_password }, comer);
      checkPassword(change.new_password, administrator.name, 'new_password');
      const changed: Administrator = {
        ...administrator,
        passwordHash: await hash(change.new_password),
        browserSecret: randomBytes(32).toString('hex'),
        updatedAt: clock.now(),
      };
      await repository.setPassword(changed, true);
      logger.info({ event: 'password_changed', administrator_id: changed.id }, 'password changed, sessions ended');
      return sessions.begin(changed);
    },
  };
}

function isSameName(one: string, other: string): boolean {
  return one.normalize('NFKC').toLowerCase() === other.normalize('NFKC').toLowerCase();
}
