import { retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import type { AccountRepository, AttemptCounter } from './account-repository.ts';
import { tooManySignIns } from './problems.ts';

const second = 1000;
/** Attempts are counted in windows of this length. No delay is longer than the rest of a window. */
export const windowMs = 15 * 60 * second;
/**
 * The tolerated difference between the clocks of processes. A window that begins later was created before a clock was
 * set back.
 */
const skewMs = 60 * second;
/** The failed attempts in a window before the first delay. */
export const freeAttempts = { account: 10, address: 30 } as const;

/**
 * The source of an attempt. A browser that has signed in before is counted separately, so that others cannot lock its
 * owner out.
 */
export interface Attempt {
  readonly name: string;
  /** The address of the client. `X-Forwarded-For` is used only from proxies that the operator trusts. */
  readonly address: string;
  /** The name in the verified device cookie of the browser; null when it sent none. */
  readonly browser: string | null;
}

export interface SignInThrottle {
  /**
   * Counts an attempt before its password is checked, so that concurrent attempts are counted too.
   * @throws Problem TOO_MANY_REQUESTS with the seconds to wait, without counting the attempt
   */
  admit(attempt: Attempt): Promise<void>;
  /** Records a successful attempt: reverts its count and resets the count of the account. */
  forgive(attempt: Attempt): Promise<void>;
}

type Delay = (failures: number, leftOfWindow: number) => number;

/** Returns 1, 2, 4, … seconds after the tenth and each later failure. */
const accountDelay: Delay = (failures, left) =>
  failures < freeAttempts.account
    ? 0
    : retryDelayMs({ firstMs: second, longestMs: left }, failures - freeAttempts.account + 1);
const addressDelay: Delay = (failures, left) => (failures < freeAttempts.address ? 0 : left);

/** Stores the counts in the database, so that processes share them and a restart keeps them. */
export function createSignInThrottle(repository: AccountRepository, now: () => number): SignInThrottle {
  return {
    admit: async (attempt) => {
      const buckets = bucketsOf(attempt);
      let wait = 0;
      await repository.changeCounters(
        buckets.map(({ name }) => name),
        (counters) => {
          const at = now();
          const current = counters.map((counter) => currentWindow(counter, at));
          wait = Math.max(...current.map((counter) => counter.retryAt - at));
          if (wait > 0) return null;
          return current.map((counter, i) => failOnce(counter, at, buckets[i]?.delay ?? accountDelay));
        },
      );
      if (wait > 0) throw tooManySignIns(Math.ceil(wait / second));
    },
    forgive: async (attempt) => {
      const buckets = bucketsOf(attempt);
      await repository.changeCounters(
        buckets.map(({ name }) => name),
        (counters) =>
          counters.map((counter, i) => {
            const current = currentWindow(counter, now());
            const failures = buckets[i]?.delay === addressDelay ? Math.max(0, current.failures - 1) : 0;
            return { ...current, failures, retryAt: 0 };
          }),
      );
    },
  };
}

function bucketsOf({ name, address, browser }: Attempt): Array<{ name: string; delay: Delay }> {
  if (browser !== null) return [{ name: `browser ${browser}`, delay: accountDelay }];
  return [
    { name: `account ${name.normalize('NFKC').toLowerCase()}`, delay: accountDelay },
    { name: `address ${networkOf(address)}`, delay: addressDelay },
  ];
}

/** Returns the network of an address. A client with one IPv6 address controls the 2^64 addresses of its network. */
export function networkOf(address: string): string {
  const [plain = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%', 1);
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = plain.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const zeros = plain.includes('::') ? Array.from({ length: 8 - groups.length - rest.length }, () => '0') : [];
  return `${[...groups, ...zeros, ...rest].slice(0, 4).join(':')}::/64`;
}

function currentWindow(counter: AttemptCounter | undefined, at: number): AttemptCounter {
  const age = at - (counter?.windowStart ?? Number.NEGATIVE_INFINITY);
  if (counter !== undefined && age >= -skewMs && age < windowMs) return counter;
  return { windowStart: at, failures: 0, retryAt: 0 };
}

function failOnce(counter: AttemptCounter, at: number, delay: Delay): AttemptCounter {
  const failures = counter.failures + 1;
  return { ...counter, failures, retryAt: at + delay(failures, counter.windowStart + windowMs - at) };
}
