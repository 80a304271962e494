/** The description of a process that serves files of the store. */
export interface NewNode {
  /** A random id of one start of a process. */
  readonly id: string;
  readonly serves: 'files' | 'both';
  readonly host: string;
  readonly version: string;
  /** Identifies the data folder, and after a point the start of its machine. A copy of the folder has another id. */
  readonly folderInstance: string;
}

export interface StoredNode extends NewNode {
  /** Milliseconds since 1970, by the clock of the database. */
  readonly startedAt: number;
  readonly heartbeatAt: number;
  /** Null while it runs, and after a crash. */
  readonly stoppedAt: number | null;
  /** Milliseconds since the last heartbeat, by the clock of the database. */
  readonly silentFor: number;
}

export interface NodeClaim {
  /** The node that the caller has read. The claim fails when the row has changed since then. */
  readonly replaced: StoredNode | undefined;
  /** The id of the data folder before and after the claim. */
  readonly folderId: { readonly from: string; readonly to: string };
}

/** Stores which process serves the files of the store. */
export interface NodeRepository {
  /** The process that serves files now, or served them last. */
  find(): Promise<StoredNode | undefined>;
  /**
   * Replaces the node that serves files, and the id of the data folder, in one transaction.
   * @returns false when another process has changed either of them
   */
  claim(node: NewNode, claim: NodeClaim): Promise<boolean>;
  /** Writes a heartbeat. @returns false when another node has replaced this one */
  renew(nodeId: string): Promise<boolean>;
  /** Stores that the process has stopped, so that the next one starts without waiting. */
  stop(nodeId: string): Promise<void>;
}
