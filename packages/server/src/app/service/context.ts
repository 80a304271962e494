import type { IncomingMessage } from 'node:http';
import type { KeyRing } from '../../access/projects/key-ring.ts';
import type { Admission } from '../../platform/admission/admission.ts';
import type { RateLimitRepository } from '../../platform/admission/rate-rules.ts';
import type { Rates } from '../../platform/admission/rates.ts';
import type { StreamShares } from '../../platform/admission/stream-shares.ts';
import type { Caller } from '../../platform/caller.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import type { PeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import type { App } from '../../platform/http/app.ts';
import type { Parts } from '../../platform/http/readiness.ts';
import type { Idempotency } from '../../platform/idempotency/idempotency.ts';
import type { IdempotencyRepository } from '../../platform/idempotency/idempotency-repository.ts';
import type { Registry } from '../../platform/metrics.ts';
import type { OpenedNode } from '../../platform/nodes/open-node.ts';
import type { Database } from '../../storage/database/database.ts';
import type { Ballast } from '../../storage/disk/ballast.ts';
import type { Sandbox } from '../../tools/execution/sandbox/sandbox.ts';
import type { Config } from '../settings/config.ts';

/** The dependencies that all parts of the service share. */
export interface ServiceContext extends Pick<CommonDeps, 'audit' | 'clock' | 'logger' | 'newId'> {
  readonly config: Config;
  readonly registry: Registry;
  readonly countExceeded: CountExceeded;
  /** The queues of both addresses. */
  readonly admission: Admission;
  /** The event streams of both addresses. */
  readonly shares: StreamShares;
  readonly database: Database;
  /** This process among the nodes of the store. */
  readonly node: OpenedNode;
  /** Milliseconds after which keys and settings are read again that other nodes may have changed. Undefined: the defaults. */
  readonly refreshMs: number | undefined;
  /** Starts tasks that one node of the store performs, until the service closes. */
  readonly startTasks: (tasks: readonly PeriodicTask[]) => void;
  readonly rates: Rates;
  readonly rateLimits: RateLimitRepository;
  readonly keyRing: KeyRing;
  readonly idempotency: Idempotency;
  readonly idempotencyRepository: IdempotencyRepository;
  readonly resources: AsyncDisposableStack;
  readonly changeHooks: ChangeHooks;
  /** The processes for the plugins of both addresses. Opened at the first call. */
  readonly sandbox: () => Promise<Sandbox>;
  /** The caller of each request that the files address authenticated and forwards to the plugins address. */
  readonly mounted: WeakMap<IncomingMessage, Caller>;
  /** Creates the HTTP server of one address with the handlers that both addresses share. */
  readonly newApp: (address: 'files' | 'plugins') => App;
  /** The disk space for background work. */
  readonly space: DiskSpace;
  /** The reserved disk space. Uploads are refused while it is in use. */
  readonly ballast: Ballast;
  /** Returns the URL of the console as browsers reach it; '' before the files address listens. */
  readonly consoleUrl: () => string;
  /** Returns the URLs on which this process listens for an address. Empty before, and for one that it does not serve. */
  readonly urlsOf: (address: 'files' | 'plugins') => readonly string[];
  /** The readiness checks of both addresses. */
  readonly parts: Parts;
}

/** What happens after changes that any process has made. Parts that open later replace the functions. */
export interface ChangeHooks {
  /** Called after settings of projects may have changed. */
  loadSettings(): Promise<void>;
  /** Called after the rows of installed bundles may have changed. */
  followRows(): Promise<void>;
  /** Called after their folders have changed. */
  readFolders(): Promise<void>;
}

export const noChangeHooks = (): ChangeHooks => ({
  loadSettings: async () => {},
  followRows: async () => {},
  readFolders: async () => {},
});

/** An address that is ready to listen. */
export interface ListenAddress {
  readonly app: App;
  readonly port: number;
  /** Releases a port that was reserved before the address listens on it. */
  readonly releasePort?: () => Promise<void>;
  /** Called before the servers drain. Ends event streams, which would otherwise stay open. */
  readonly endStreams: () => void;
}
