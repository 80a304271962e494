/** The description of a process of the store. */
export interface NewNode {
  /** A random id of one start of a process. */
  readonly id: string;
  readonly serves: 'files' | 'both' | 'plugins';
  readonly host: string;
  readonly version: string;
  /**
   * Identifies the data folder, and after a point the start of its machine. A copy of the folder has another id. Empty for a node
   * beside which any number of others may run.
   */
  readonly folderInstance: string;
  readonly settings: NodeSettings;
}

/** What nodes of one store must agree on. */
export interface NodeSettings {
  /** The ids of the keys that encrypt credentials. The first one encrypts. */
  readonly encryptionKeys: readonly string[];
  /** The settings that must be equal on all nodes that have them, by name. */
  readonly equal: Readonly<Record<string, string>>;
}

/** What is known of a node after its start. */
export interface NodeFacts {
  /** The URL of its files address, or of its plugins address, without any proxy. */
  readonly address: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

export interface StoredNode extends NewNode, NodeFacts {
  /** Milliseconds since 1970, by the clock of the database. */
  readonly startedAt: number;
  readonly heartbeatAt: number;
  /** Null while it runs, and after a crash. */
  readonly stoppedAt: number | null;
  /** Milliseconds since the last heartbeat, by the clock of the database. */
  readonly silentFor: number;
}

/** Milliseconds without a heartbeat after which a node counts as ended. */
export const leaseMs = 15_000;
/**
 * Milliseconds without a heartbeat after which others repeat a request of the node. If it still runs, nothing is lost, because only one
 * of them can store its answer.
 */
export const silentMs = 8_000;

/** Whether a node with heartbeats runs. */
export function isRunning({ stoppedAt, silentFor }: Pick<StoredNode, 'stoppedAt' | 'silentFor'>): boolean {
  return stoppedAt === null && silentFor < leaseMs;
}

export interface NodeClaim {
  /** The node that the caller has read. The claim fails when the row has changed since then. */
  readonly replaced: StoredNode | undefined;
  /** The id of the data folder before and after the claim. */
  readonly folderId: { readonly from: string; readonly to: string };
}

/** Stores the processes of the store. */
export interface NodeRepository {
  /** The process that serves the files of a data folder now, or served them last. */
  find(): Promise<StoredNode | undefined>;
  /** Every node that runs, or ended within a day, in the order of their starts. */
  list(): Promise<readonly StoredNode[]>;
  /**
   * Replaces the node that serves files, and the id of the data folder, in one transaction.
   * @returns false when another process has changed either of them
   */
  claim(node: NewNode, claim: NodeClaim): Promise<boolean>;
  /**
   * Adds a node beside the others, and removes those that ended more than a day ago. Concurrent calls see each other's nodes.
   * @returns a running node with which this one does not fit; nothing is added then
   */
  register(node: NewNode, fits: (other: StoredNode) => boolean): Promise<StoredNode | undefined>;
  /** Stores the facts of a node, and removes ended nodes with the same host and address. */
  publish(nodeId: string, facts: NodeFacts): Promise<void>;
  /** Writes a heartbeat. @returns the number of running nodes; undefined when the node has no row any more */
  renew(nodeId: string): Promise<number | undefined>;
  /** Stores that the process has stopped, so that the next one starts without waiting. */
  stop(nodeId: string): Promise<void>;
  /**
   * Makes the node the leader of a task, unless another running node is.
   * @returns whether it is the leader
   */
  lead(task: string, nodeId: string): Promise<boolean>;
}
