import type { Readable } from 'node:stream';
import { Problem } from '../kernel/problem.ts';

/**
 * Where the bytes of files are kept. A blob is staged, then either committed whole or discarded; no half blob is ever
 * seen by `open` or `list`. Blobs are named by our own ids only. What a store cannot do for lack of room it refuses
 * with INSUFFICIENT_STORAGE. `blob-store.suite.ts` says the rest.
 */
export interface BlobStore {
  /** Rejects with INSUFFICIENT_STORAGE while there is so little room that no blob should be begun. */
  checkRoom(): Promise<void>;
  /** @param blobId an id of kind `blob` that was never used before. */
  stage(blobId: string): StagedBlob;
  /**
   * The bytes, or those of a range. Rejects with {@link BlobMissing} before anything is sent when there is no such blob, and with
   * {@link BlobUnreadable}, also while they are read, when the medium does not give them.
   */
  open(blobId: string, range?: ByteRange): Promise<Readable>;
  /** Erases the blob, also from the quarantine. Resolves when it is gone, also when it never was. */
  remove(blobId: string): Promise<void>;
  /** Size in bytes, undefined when there is no such blob. @throws BlobUnreadable */
  size(blobId: string): Promise<number | undefined>;
  /** Every committed blob, in no order; one that is committed or removed meanwhile may be left out. */
  list(): AsyncIterable<StoredBlob>;
  readonly quarantine: BlobQuarantine;
  /** Throws when nothing can be written; used by `/v1/ready`. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Holds unused bytes that may be the only copy of a file. `open`, `size` and `list` do not find them. */
export interface BlobQuarantine {
  /** Moves a committed blob here, durably. False when there is no such blob. */
  add(blobId: string): Promise<boolean>;
  /** Moves a blob back, durably. `absent`: it is not here; `exists`: the store has a blob with this id, which stays. */
  restore(blobId: string): Promise<'restored' | 'absent' | 'exists'>;
  /** Erases the blob; false when it is not here. */
  purge(blobId: string): Promise<boolean>;
  /** The bytes of a blob that is here. Rejects with {@link BlobMissing}. */
  open(blobId: string): Promise<Readable>;
  /** Every blob that is here, in no order; `modifiedAt` is when it was moved. */
  list(): AsyncIterable<StoredBlob>;
}

export interface StagedBlob {
  readonly blobId: string;
  /**
   * Takes bytes over: the store frees their memory once they are written, so nobody reads them afterwards. A promise asks
   * the caller to wait before it brings more.
   */
  append(bytes: Buffer): Promise<void> | undefined;
  /** Says that all bytes came. Nothing is durable yet. */
  finish(): Promise<BlobDigest>;
  /** Some of the bytes, after `finish`; shorter where the blob ends. */
  read(position: number, length: number): Promise<Buffer>;
  /**
   * Makes the blob durable and visible, after `finish`. When it rejects, nothing is staged any more; the blob may be there when
   * its name could not be synced. A failed sync is final.
   */
  commit(): Promise<void>;
  /** Leaves nothing behind. Does nothing after `commit`; may be called twice, and while an `append` is pending. */
  discard(): Promise<void>;
}

export interface BlobDigest {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Both ends included, as in the Range header. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StoredBlob {
  readonly blobId: string;
  readonly bytes: number;
  /** Milliseconds. */
  readonly modifiedAt: number;
}

/** A row names bytes that are not there: a defect or a damaged disk, never the caller's fault. */
export class BlobMissing extends Error {
  readonly blobId: string;
  constructor(blobId: string) {
    super(`The bytes of blob ${blobId} are missing.`);
    this.name = 'BlobMissing';
    this.blobId = blobId;
  }
}

/** The medium has a fault where this blob is stored. Failures of the whole storage are other errors. */
export class BlobUnreadable extends Problem {
  constructor(cause: unknown) {
    super(
      'SERVICE_UNAVAILABLE',
      'The stored content of this file cannot be read from the disk. Upload the same content again to repair it, or ask the operator to restore a backup.',
      { retryAfter: 60, cause, isFault: true },
    );
    this.name = 'BlobUnreadable';
  }
}
