import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import { tooManySignIns } from '../accounts/problems.ts';
import { networkOf } from '../accounts/sign-in-throttle.ts';
import { hashSecret } from '../oauth/adapter.ts';
import type { OauthRepository } from '../oauth/oauth-repository.ts';
import { signInExpired } from './problems.ts';

export const pendingSeconds = 600;
/** The maximum number of sign-ins that begin within 10 minutes and do not succeed: from one network, and in all. */
export const mostPending = { ofNetwork: 60, ofService: 20_000 } as const;
const model = 'SignIn';

interface Waiting {
  readonly browser: string;
  readonly return_to: string;
  /** The counters in which it is. */
  readonly counts: readonly string[];
}

export interface PendingSignInsDeps {
  readonly repository: Pick<OauthRepository, 'saveRecord' | 'findRecord' | 'useRecord' | 'countEvent' | 'uncountEvent'>;
  readonly clock: Clock;
}

export interface TakenSignIn {
  readonly returnTo: string;
  /** No longer counts the sign-in, because it has succeeded. */
  uncount(): Promise<void>;
}

/** The sign-ins that wait for the answer of the provider. The database has hashes only; the secret is in a cookie of the browser. */
export interface PendingSignIns {
  /** @throws Problem TOO_MANY_REQUESTS */
  begin(returnTo: string, address: string): Promise<{ readonly state: string; readonly secret: string }>;
  /**
   * Ends a sign-in, which works once, and only in the browser in which it began.
   * @throws Problem PERMISSION_DENIED
   */
  take(state: string, secret: string): Promise<TakenSignIn>;
}

export function createPendingSignIns({ repository, clock }: PendingSignInsDeps): PendingSignIns {
  async function count(name: string, most: number): Promise<string> {
    const now = clock.now();
    const window = Math.floor(now / (pendingSeconds * 1000));
    const expiresAt = (window + 1) * pendingSeconds * 1000;
    const hash = hashSecret(`sign in ${name} ${window}`);
    if (await repository.countEvent(hash, { expiresAt, most })) return hash;
    throw tooManySignIns(Math.ceil((expiresAt - now) / 1000));
  }
  return {
    begin: async (returnTo, address) => {
      const counts = [await count(networkOf(address), mostPending.ofNetwork), await count('*', mostPending.ofService)];
      const [state, secret] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
      const payload = { browser: hashSecret(secret), return_to: returnTo, counts };
      const expiresAt = clock.now() + pendingSeconds * 1000;
      await repository.saveRecord({ model, hash: hashSecret(state), grantId: null, payload, expiresAt });
      return { state, secret };
    },
    take: async (state, secret) => {
      const now = clock.now();
      const found = await repository.findRecord(model, hashSecret(state), now);
      const { browser, return_to, counts = [] } = (found?.record.payload ?? {}) as Partial<Waiting>; // written above
      const isSame = timingSafeEqual(Buffer.from(browser ?? hashSecret('')), Buffer.from(hashSecret(secret)));
      if (!isSame || return_to === undefined) throw signInExpired();
      // One statement, so that only one of two answers at once succeeds.
      if (!(await repository.useRecord(model, hashSecret(state), { now, since: now, most: 1 }))) throw signInExpired();
      return {
        returnTo: return_to,
        uncount: async () => {
          for (const hash of counts) await repository.uncountEvent(hash);
        },
      };
    },
  };
}
