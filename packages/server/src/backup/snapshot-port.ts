/** A copy of the database as it was at one moment, made while others write to it. */
export interface DatabaseSnapshot {
  /** Blobs that have a live file in the copy, by id, those that follow `after`. */
  liveBlobs(after: string, limit: number): Promise<readonly SnapshotBlob[]>;
  close(): Promise<void>;
}

export interface SnapshotBlob {
  readonly blobId: string;
  readonly projectId: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Some of the files that have this content, by id. Backups of earlier versions do not list them. */
  readonly files?: readonly NamedFile[];
}

export interface NamedFile {
  readonly fileId: string;
  readonly name: string;
}

/** Files that a snapshot lists for one blob. */
export const mostNamedFiles = 10;
