/**
 * Damage of stored bytes: they are missing, their length or SHA-256 differs from the row, or the disk cannot read them.
 */
export type BlobDamage = 'missing' | 'size_differs' | 'content_differs' | 'unreadable';

/** The recorded state of stored bytes, apart from their files. */
export interface BlobRepository {
  /** `known`: the damage was already recorded; `gone`: no live row refers to the blob any more. */
  recordDamage(blobId: string, damage: BlobDamage, at: number): Promise<'recorded' | 'known' | 'gone'>;
  /** Removes the recorded damage, because the stored bytes are correct again. */
  clearDamage(blobId: string): Promise<void>;
  countDamaged(): Promise<number>;
  /** Returns at most `limit` live files that use these blobs, by id. */
  filesOf(blobIds: readonly string[], limit: number): Promise<readonly FileOfBlob[]>;
  /** Returns damaged blobs whose files use other bytes now, and whose own bytes must still be erased. */
  replacedBlobs(limit: number): Promise<readonly string[]>;
  /** Deletes the row of a replaced blob whose bytes have been erased. */
  forgetReplaced(blobId: string): Promise<void>;
  /** Returns undefined before the first pass. */
  findVerification(): Promise<Verification | undefined>;
  /** Saves the progress and leaves `paused` unchanged. */
  saveVerification(progress: Omit<Verification, 'paused'>): Promise<void>;
  pauseVerification(paused: boolean): Promise<void>;
}

export interface FileOfBlob {
  readonly blobId: string;
  readonly fileId: string;
  readonly name: string;
  readonly projectId: string | null;
}

/** The progress of the verification of all blobs. */
export interface Verification {
  /** The last blob read. The next one follows it by id. */
  readonly position: string;
  readonly passStartedAt: number;
  readonly passBlobs: number;
  readonly passBytes: number;
  readonly finishedAt: number | null;
  readonly paused: boolean;
}
