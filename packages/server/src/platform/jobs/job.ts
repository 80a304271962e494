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

/** The fields that a claim writes. Times are milliseconds since 1970. */
export interface Lease {
  /** Identifies this claim. A token is never reused. */
  readonly token: string;
  readonly now: number;
  readonly leaseUntil: number;
}

/** One claim of one job. */
export interface Claim {
  readonly id: string;
  readonly token: string;
}

export interface Job extends Claim {
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** No other job waited at the time of the claim. Default: another one may. */
  readonly isLast?: boolean;
}

/** Thrown when another worker has claimed the job, or the job was replaced or deleted. The holder must stop. */
export class LeaseLost extends Error {}

/** Thrown when the worker stops. The job is requeued, so that another worker can claim it immediately. */
export class WorkerStopping extends Error {}
