/**
 * Damage of stored bytes: they are missing, their length or SHA-256 differs from the row, or the medium does not give them.
 */
export type BlobDamage = 'missing' | 'size_differs' | 'content_differs' | 'unreadable';

/** Recorded state of stored bytes, apart from their files. */
export interface BlobRepository {
  /** `known`: the damage was recorded before; `gone`: no live row names the blob any more. */
  recordDamage(blobId: string, damage: BlobDamage, at: number): Promise<'recorded' | 'known' | 'gone'>;
  /** The stored bytes are right again. */
  clearDamage(blobId: string): Promise<void>;
  countDamaged(): Promise<number>;
  /** Live files that have these blobs, at most `limit`, by id. */
  filesOf(blobIds: readonly string[], limit: number): Promise<readonly FileOfBlob[]>;
  /** Damaged blobs whose files were given other bytes, and whose own bytes remain to be erased. */
  replacedBlobs(limit: number): Promise<readonly string[]>;
  /** Deletes the row of a replaced blob whose bytes have been erased. */
  forgetReplaced(blobId: string): Promise<void>;
  /** Undefined before the first pass. */
  findVerification(): Promise<Verification | undefined>;
  /** Keeps `paused` as it is. */
  saveVerification(progress: Omit<Verification, 'paused'>): Promise<void>;
  pauseVerification(paused: boolean): Promise<void>;
}

export interface FileOfBlob {
  readonly blobId: string;
  readonly fileId: string;
  readonly name: string;
  readonly projectId: string;
}

/** How far the verification of all blobs has come. */
export interface Verification {
  /** The last blob read; the next one follows it by id. */
  readonly position: string;
  readonly passStartedAt: number;
  readonly passBlobs: number;
  readonly passBytes: number;
  readonly finishedAt: number | null;
  readonly paused: boolean;
}
