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
  /** Who runs it and until when it answers for it; null once it has ended. */
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

export interface StoredResult {
  readonly result: ExecuteResult;
  readonly expiresAt: number;
}

export interface RunPage {
  readonly items: readonly StoredRun[];
  readonly hasMore: boolean;
}

/** How many runs are kept, and how long. */
export interface RunBounds {
  /** Runs made before this time are deleted; milliseconds since 1970. */
  readonly notBefore: number;
  /** Of each project, the newest. */
  readonly most: number;
}

/** Runs and the results of asynchronous ones. */
export interface RunRepository {
  /** Adds runs with one statement; those that are there already are left as they are. */
  add(runs: readonly StoredRun[]): Promise<void>;
  /** Ends a run that is under way, with its result. @returns false when it has ended already, or is gone. */
  end(projectId: string, runId: string, outcome: { end: RunEnd; result: StoredResult | null }): Promise<boolean>;
  find(projectId: string, runId: string): Promise<StoredRun | undefined>;
  findResult(projectId: string, runId: string, now: number): Promise<StoredResult | undefined>;
  /** A page, in the order of ids. `recent` are runs of that project which may not be stored yet; they take their places. */
  list(projectId: string, query: RunQuery, recent: readonly StoredRun[]): Promise<RunPage>;
  /** Notes that somebody wants it cancelled; whoever runs it learns of it when it renews. @returns whether it is under way */
  askToCancel(projectId: string, runId: string): Promise<boolean>;
  /** Prolongs the leases of a process. @returns the runs of it that somebody wants cancelled */
  renew(owner: string, until: number): Promise<string[]>;
  /** Ends runs whose lease has run out, at most `limit`. @returns how many */
  interrupt(now: number, wish: { end: RunEnd; limit: number }): Promise<number>;
  /** Deletes runs (with their results) that are beyond the bounds, at most `limit`. @returns how many */
  sweep(bounds: RunBounds, limit: number): Promise<number>;
  /** Deletes results that are over, and the oldest of those beyond `maxBytes` in all; at most `limit`. @returns how many */
  sweepResults(now: number, { maxBytes, limit }: { maxBytes: number; limit: number }): Promise<number>;
}
