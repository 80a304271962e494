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
import type { Owner } from '../../platform/admission/owner.ts';
import type { CompletedClaim } from '../../platform/idempotency/idempotency-repository.ts';
import type { Page } from '../../platform/page.ts';
import type { Permissions } from '../../platform/permissions.ts';

/** A run as it is stored. It contains no credentials and no unredacted text. */
export interface StoredRun {
  readonly id: string;
  /** null when the caller has no project. */
  readonly projectId: string | null;
  readonly bundleId: string;
  /** null when the run verifies credentials. */
  readonly pluginId: string | null;
  readonly origin: RunOrigin;
  readonly isolation: Isolation;
  readonly asynchronous: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** When an asynchronous run began; null while it waits, and for other runs. */
  readonly begunAt: number | null;
  /** Set while an asynchronous run has not ended; null otherwise. */
  readonly lease: RunLease | null;
  /** null while the run is in progress. */
  readonly end: RunEnd | null;
}

export interface RunLease {
  /** The id of the process. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The heartbeat that keeps the leases of all runs of a process. */
export interface Heartbeat {
  /** The id of the process. */
  readonly owner: string;
  /** Milliseconds since 1970, by the clock of the database. */
  readonly at: number;
}

export interface RunEnd {
  readonly outcome: RunOutcome;
  readonly errorCode: ErrorCode | null;
  readonly upstreamStatus: number | null;
  /** null when it is unknown because the process was killed. */
  readonly durationMs: number | null;
  readonly phases: RunPhases | null;
  readonly violations: number;
  readonly egress: readonly RunCall[];
  readonly egressLeftOut: number;
  readonly error: RunError | null;
  /** Redacted; null unless the project stores inputs. */
  readonly input: Readonly<Record<string, unknown>> | null;
}

/**
 * A run that waits to be stored, packed into one text instead of a dozen objects. Thousands of runs may wait, and the garbage
 * collector copies waiting objects until they are old.
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
  /** null when the request holds credentials and there is no key to encrypt them. */
  readonly text: string | null;
  readonly isEncrypted: boolean;
  /** Whether running the plugin twice has the same effect as running it once. */
  readonly isRepeatable: boolean;
}

export interface AcceptedRun {
  readonly run: StoredRun;
  /** null when the caller has no API key. */
  readonly keyId: string | null;
  readonly request: StoredRequest;
  /** The claim of its `Idempotency-Key`, stored together with the run. */
  readonly claim: CompletedClaim | null;
}

/** A run that this process has claimed: its process has ended, or has not begun it yet. */
export interface OrphanedRun {
  /** The run as its process left it, with the lease of this process. */
  readonly run: StoredRun;
  readonly keyId: string | null;
  readonly request: StoredRequest;
  /** The processes that began the run and did not end it. */
  readonly attempts: number;
  readonly isCancelAsked: boolean;
  /** False when it waited at a process that is alive. */
  readonly isOrphaned: boolean;
}

/** Which runs of other processes a process can take. */
export interface OrphanClaim {
  readonly now: number;
  readonly limit: number;
  /** The number of runs that wait at other processes and that this one would start at once. 0: it takes none of them. */
  readonly startable: number;
  /** Whether this process can run plugins of the bundle. */
  readonly hasBundle: (bundleId: string) => boolean;
  /** Whose runs are not claimed, because this process has no room for them. */
  readonly except: readonly Owner[];
  /** Runs accepted before this time are claimed even without their bundle, to be ended. Milliseconds since 1970. */
  readonly acceptedBefore: number;
}

/** The number of runs that are kept, and their age. */
export interface RunBounds {
  /** Runs created before this time are deleted; milliseconds since 1970. */
  readonly notBefore: number;
  /** The number of newest runs that each project keeps. */
  readonly most: number;
}

/** What a reader sees of the runs of a project. */
export interface SeenRuns {
  /** Runs that may not be stored yet. */
  readonly recent: readonly StoredRun[];
  readonly permissions: Pick<Permissions, 'tools' | 'bundles'>;
}

export interface RunKey {
  readonly projectId: string | null;
  readonly id: string;
}

/** A run in progress of the calling process. */
export interface HeldRun extends RunKey {
  /** Whether a client has requested its cancellation. */
  readonly isCancelAsked: boolean;
}

/** Stores runs and the results of asynchronous runs. */
export interface RunRepository {
  pack(run: StoredRun): PackedRun;
  unpack(packed: PackedRun): StoredRun;
  /** Adds runs in one transaction. Runs that are already stored stay unchanged. */
  add(runs: readonly PackedRun[]): Promise<void>;
  /** Adds asynchronous runs, each with its claim. @returns for each whether it was added; false when its claim was lost */
  accept(runs: readonly AcceptedRun[], heartbeat: Heartbeat): Promise<boolean[]>;
  /**
   * Stores that runs begin, with a heartbeat of their process. @returns for each whether the owner still has the run; otherwise it
   * must not begin
   */
  begin(runs: readonly RunKey[], begin: { owner: string; at: number; until: number }): Promise<boolean[]>;
  /** Ends a run in progress of the owner and stores its result. @returns false when it has ended, or has another owner */
  end(key: RunKey, outcome: { owner: string; end: RunEnd; result: StoredResult | null }): Promise<boolean>;
  /** Ends the leases of runs, so that any process can claim them, this one included. */
  requeue(runs: readonly RunKey[], owner: string): Promise<void>;
  find(projectId: string | null, runId: string): Promise<StoredRun | undefined>;
  findResult(projectId: string | null, runId: string, now: number): Promise<StoredResult | undefined>;
  /** Returns a page in the order of ids, with the runs whose plugins the reader sees. */
  list(projectId: string | null, query: RunQuery, seen: SeenRuns): Promise<Page<StoredRun>>;
  /** Requests a cancellation. The process of the run learns of it at its next heartbeat. @returns whether the run is in progress */
  askToCancel(projectId: string | null, runId: string): Promise<boolean>;
  /** Writes the heartbeat of a process. @returns its runs */
  renew(heartbeat: Heartbeat): Promise<HeldRun[]>;
  /** Returns the runs in progress of a process, without a heartbeat. */
  listHeld(owner: string): Promise<HeldRun[]>;
  /**
   * Claims orphaned runs: those of processes without a heartbeat for the length of a lease. If there are none, it claims runs that
   * have waited for a second at a process that is alive; that process then cannot begin them. The claimed runs wait again.
   * Projects alternate, and the keys of a project. The runs of a key are claimed in the order of their ids.
   */
  claimOrphaned(lease: RunLease, claim: OrphanClaim): Promise<OrphanedRun[]>;
  /** Deletes the heartbeats of processes that ended long ago. */
  sweepProcesses(now: number): Promise<void>;
  /** Deletes at most `limit` runs beyond the bounds, with their results. @returns the number of deleted runs */
  sweep(bounds: RunBounds, limit: number): Promise<number>;
  /**
   * Deletes at most `limit` results: expired ones and, above `maxBytes` in total, the oldest of the projects with the most.
   * @returns the number of deleted results
   */
  sweepResults(now: number, { maxBytes, limit }: { maxBytes: number; limit: number }): Promise<number>;
}
