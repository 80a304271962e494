import type {
  ErrorCode,
  ExecuteResult,
  Isolation,
  RunCall,
  RunError,
  RunOrigin,
  RunOutcome,
  RunPhases,
  RunQuery,
} from '@quartermaster/contract';
import type { CompletedClaim } from '../idempotency/idempotency-repository.ts';
import type { Page } from '../kernel/page.ts';

/** A run as it is stored. Nothing in it is a credential or a text that was not scrubbed. */
export interface StoredRun {
  readonly id: string;
  /** `-` without a project. */
  readonly projectId: string;
  readonly bundleId: string;
  /** null: a check of credentials. */
  readonly pluginId: string | null;
  readonly origin: RunOrigin;
  readonly isolation: Isolation;
  readonly asynchronous: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Of an asynchronous run: when it was begun; null while it waits. */
  readonly begunAt: number | null;
  /** Of an asynchronous run that has not ended; null otherwise. */
  readonly lease: RunLease | null;
  /** null while it is under way. */
  readonly end: RunEnd | null;
}

export interface RunLease {
  /** The process. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Keeps all runs that a process holds. */
export interface Heartbeat {
  /** The process. */
  readonly owner: string;
  /** Milliseconds since 1970, by the clock of the database. */
  readonly at: number;
}

export interface RunEnd {
  readonly outcome: RunOutcome;
  readonly errorCode: ErrorCode | null;
  readonly upstreamStatus: number | null;
  /** null: nobody knows, its process was killed. */
  readonly durationMs: number | null;
  readonly phases: RunPhases | null;
  readonly violations: number;
  readonly egress: readonly RunCall[];
  readonly egressLeftOut: number;
  readonly error: RunError | null;
  /** Scrubbed; null unless the project asks for it. */
  readonly input: Readonly<Record<string, unknown>> | null;
}

/**
 * A run as it waits to be stored: a text instead of the dozen objects it is made of. Runs wait by the thousand, and what
 * waits is moved by the collector until it is old.
 */
export interface PackedRun extends RunKey {
  /** The columns of its row, as JSON. */
  readonly row: string;
}

export interface StoredResult {
  readonly result: ExecuteResult;
  readonly expiresAt: number;
}

/** The request of an asynchronous run, stored until the run has ended. */
export interface StoredRequest {
  /** null: it holds credentials, and there is no key to encrypt them with. */
  readonly text: string | null;
  readonly isSealed: boolean;
  /** Running the plugin twice does no more than running it once. */
  readonly isRepeatable: boolean;
}

export interface AcceptedRun {
  readonly run: StoredRun;
  readonly request: StoredRequest;
  /** Of its `Idempotency-Key`, stored with the run or not at all. */
  readonly claim: CompletedClaim | null;
}

/** A run whose process has ended, and which this process has claimed. */
export interface OrphanedRun {
  /** As its process left it, with the lease of this one. */
  readonly run: StoredRun;
  readonly request: StoredRequest;
  /** Processes that have begun it and not ended it. */
  readonly attempts: number;
  readonly isCancelAsked: boolean;
}

/** Which orphaned runs a process can recover. */
export interface OrphanClaim {
  readonly now: number;
  readonly limit: number;
  /** Whether this process can run plugins of the bundle. */
  readonly hasBundle: (bundleId: string) => boolean;
  /** Runs accepted until this time are claimed without their bundle, to be ended; milliseconds since 1970. */
  readonly acceptedBefore: number;
}

/** How many runs are kept, and how long. */
export interface RunBounds {
  /** Runs made before this time are deleted; milliseconds since 1970. */
  readonly notBefore: number;
  /** Of each project, the newest. */
  readonly most: number;
}

export interface RunKey {
  readonly projectId: string;
  readonly id: string;
}

/** A run under way of the process that asks. */
export interface HeldRun extends RunKey {
  /** Somebody wants it cancelled. */
  readonly isCancelAsked: boolean;
}

/** Runs and the results of asynchronous ones. */
export interface RunRepository {
  pack(run: StoredRun): PackedRun;
  unpack(packed: PackedRun): StoredRun;
  /** Adds runs in one transaction; those that are there already are left as they are. */
  add(runs: readonly PackedRun[]): Promise<void>;
  /** Adds asynchronous runs, each with its claim. @returns for each whether it was; false: its claim was lost */
  accept(runs: readonly AcceptedRun[], heartbeat: Heartbeat): Promise<boolean[]>;
  /** Notes that runs begin, with a heartbeat of their process. @returns for each whether the owner still has it: else it may not */
  begin(runs: readonly RunKey[], begin: { owner: string; at: number; until: number }): Promise<boolean[]>;
  /** Ends a run that the owner has under way, with its result. @returns false when it has ended, or has another owner */
  end(key: RunKey, outcome: { owner: string; end: RunEnd; result: StoredResult | null }): Promise<boolean>;
  /** Ends the lease of runs: any process can claim them, the same one as well. */
  requeue(runs: readonly RunKey[], owner: string): Promise<void>;
  find(projectId: string, runId: string): Promise<StoredRun | undefined>;
  findResult(projectId: string, runId: string, now: number): Promise<StoredResult | undefined>;
  /** A page, in the order of ids. `recent` are runs of that project which may not be stored yet; they take their places. */
  list(projectId: string, query: RunQuery, recent: readonly StoredRun[]): Promise<Page<StoredRun>>;
  /** Notes that somebody wants it cancelled; whoever runs it learns of it when it renews. @returns whether it is under way */
  askToCancel(projectId: string, runId: string): Promise<boolean>;
  /** Writes the heartbeat of a process that has runs. @returns its runs */
  renew(heartbeat: Heartbeat): Promise<HeldRun[]>;
  /** Claims orphaned runs: those of processes without a heartbeat for the length of a lease. They wait again. */
  claimOrphaned(lease: RunLease, claim: OrphanClaim): Promise<OrphanedRun[]>;
  /** Deletes the heartbeats of processes that ended long ago. */
  sweepProcesses(now: number): Promise<void>;
  /** Deletes runs (with their results) that are beyond the bounds, at most `limit`. @returns how many */
  sweep(bounds: RunBounds, limit: number): Promise<number>;
  /** Deletes results that are over, and beyond `maxBytes` in all the oldest of the projects that have most; at most `limit`. @returns how many */
  sweepResults(now: number, { maxBytes, limit }: { maxBytes: number; limit: number }): Promise<number>;
}
