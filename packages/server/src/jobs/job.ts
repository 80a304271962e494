/*
 * A job is a row that one worker at a time may work on. Its states:
 *
 *   waiting ── claim ──► leased ──► done, or failed
 *      ▲                   │  ▲
 *      └──── requeue ──────┘  └─ heartbeat
 *
 * A claim writes a token and the end of a lease into the row; a heartbeat prolongs the lease; every later write proves the
 * token, so that a worker that lost the lease changes nothing. A lease that runs out makes the job claimable again.
 */

/** What a claim writes. Times are milliseconds since 1970. */
export interface Lease {
  /** Names this one claim; never used twice. */
  readonly token: string;
  readonly now: number;
  readonly leaseUntil: number;
}

/** One claim of one job. */
export interface Held {
  readonly id: string;
  readonly token: string;
}

export interface Job extends Held {
  /** From 1; counts the claim that holds it. */
  readonly attempt: number;
}

/** Another worker has claimed the job, or the job was replaced or deleted: nothing is left to do for it here. */
export class LeaseLost extends Error {}

/** The worker stops: the job is requeued, so that another one can claim it at once. */
export class WorkerStopping extends Error {}
