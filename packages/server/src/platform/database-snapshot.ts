/** A copy of the database at one moment, taken while other connections write to it. */
export interface DatabaseSnapshot {
  readonly store: SnapshotStore;
  /** Returns blobs that have a live file in the copy, by id, those that follow `after`. */
  liveBlobs(after: string, limit: number): Promise<readonly SnapshotBlob[]>;
  close(): Promise<void>;
}

/** The row of the store. */
export interface SnapshotStore {
  readonly id: string;
  /** The object storage with the content; null while the data folder has it. */
  readonly blobsPlace: string | null;
}

export interface SnapshotBlob {
  readonly blobId: string;
  readonly projectId: string | null;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Some of the files that have this content, by id. */
  readonly files: readonly NamedFile[];
}

export interface NamedFile {
  readonly fileId: string;
  readonly name: string;
}

/** The maximum number of files that a snapshot lists for one blob. */
export const mostNamedFiles = 10;
