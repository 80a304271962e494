import { Problem } from '../problem.ts';

/**
 * The parts that must work to serve requests, by their names in `/v1/ready`. Each check rejects while its part does not
 * work. The endpoint is public, so a name reveals no location. The cause of a failure is logged.
 */
export type Parts = Readonly<Record<string, () => Promise<void>>>;

/**
 * A part does not work, and `/v1/ready` may publish the reason: the message contains no secret and no location. `details` shows
 * `facts` with the name of the part.
 */
export class PartFailure extends Error {
  readonly facts: Readonly<Record<string, string | number | null>>;
  constructor(message: string, facts: PartFailure['facts']) {
    super(message);
    this.name = 'PartFailure';
    this.facts = facts;
  }
}

/** The time in milliseconds in which a part must answer. */
const defaultTimeoutMs = 5_000;

/** @throws Problem SERVICE_UNAVAILABLE, which names every part that does not work */
export async function checkParts(parts: Parts, timeoutMs = defaultTimeoutMs): Promise<void> {
  const names = Object.keys(parts);
  const ends = await Promise.allSettled(Object.values(parts).map((check) => within(timeoutMs, check())));
  const reasons = ends.map((end) => (end.status === 'rejected' ? end.reason : undefined));
  const missing = names.filter((_, index) => ends[index]?.status === 'rejected');
  if (missing.length === 0) return;
  throw new Problem(
    'SERVICE_UNAVAILABLE',
    `The service is not ready: ${missing.join(', ')} failed. Retry later; the log names the reason.`,
    {
      details: names.flatMap((part, index) => {
        const end = ends[index];
        if (end?.status !== 'rejected') return [];
        return [{ part, ...(end.reason instanceof PartFailure ? end.reason.facts : {}) }];
      }),
      cause: new AggregateError(
        reasons.filter((reason) => reason !== undefined),
        'not ready',
      ),
      retryAfter: 1,
    },
  );
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
