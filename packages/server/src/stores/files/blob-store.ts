import type { Readable } from 'node:stream';
import { Problem } from '../../platform/problem.ts';

/**
 * Stores the bytes of files. A blob is staged, then either committed completely or discarded. `open` and `list` never
 * return a partial blob. Generated ids are the only names of blobs. When space is lacking, calls fail with
 * INSUFFICIENT_STORAGE. `blob-store.suite.ts` specifies the remaining behaviour.
 */
export interface BlobStore {
  /** Rejects with INSUFFICIENT_STORAGE while there is too little space to begin a blob. */
  checkRoom(): Promise<void>;
  /** @param blobId an unused id of kind `blob` */
  stage(blobId: string): StagedBlob;
  /**
   * Returns the bytes of the blob or of a range, and the size of the blob. Rejects with {@link BlobMissing} before the first byte when the blob
   * does not exist. Rejects with {@link BlobUnreadable}, also during the read, when the disk cannot read it.
   */
  open(blobId: string, range?: ByteRange): Promise<OpenedBlob>;
  /**
   * Erases the blob, including a quarantined one. Resolves also when the blob did not exist. In object storage the bytes stay for the
   * configured days.
   */
  remove(blobId: string): Promise<void>;
  /**
   * Returns the size in bytes, or undefined when the blob does not exist.
   * @throws BlobUnreadable
   */
  size(blobId: string): Promise<number | undefined>;
  /**
   * Lists every committed blob in no particular order. Blobs that are committed or removed in the meantime may be missing.
   */
  list(): AsyncIterable<StoredBlob>;
  readonly quarantine: BlobQuarantine;
  /** Throws when no write is possible. `/v1/ready` uses it. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Streams bytes of a blob. `blobBytes` is the size of the whole blob, also for a range. */
export type OpenedBlob = Readable & { readonly blobBytes: number };

/** Holds unused bytes that may be the only copy of a file. `open`, `size` and `list` do not find them. */
export interface BlobQuarantine {
  /** Moves a committed blob to the quarantine, durably. Returns false when the blob does not exist. */
  add(blobId: string): Promise<boolean>;
  /**
   * Moves a blob back, durably. `absent`: it is not in the quarantine. `exists`: the store already has a blob with this
   * id, which stays.
   */
  restore(blobId: string): Promise<'restored' | 'absent' | 'exists'>;
  /** Erases the blob. Returns false when it is not in the quarantine. */
  purge(blobId: string): Promise<boolean>;
  /** Returns the bytes of a quarantined blob. Rejects with {@link BlobMissing}. */
  open(blobId: string): Promise<Readable>;
  /** Lists every quarantined blob in no particular order. `modifiedAt` is the time of the move. */
  list(): AsyncIterable<StoredBlob>;
}

export interface StagedBlob {
  readonly blobId: string;
  /**
   * Takes ownership of the bytes. The store frees their memory after the write, so the caller must not read them. When
   * it returns a promise, the caller waits for it before the next call.
   */
  append(bytes: Buffer): Promise<void> | undefined;
  /** Signals that all bytes have arrived. Nothing is durable yet. */
  finish(): Promise<BlobDigest>;
  /** Returns some of the bytes, after `finish`. Fewer bytes are returned at the end of the blob. */
  read(position: number, length: number): Promise<Buffer>;
  /**
   * Makes the blob durable and visible, after `finish`. After a rejection nothing is staged; the blob may exist if its
   * name could not be synced. A failed sync is final.
   */
  commit(): Promise<void>;
  /** Removes everything that was staged. Has no effect after `commit`. May be called twice, and during an `append`. */
  discard(): Promise<void>;
}

export interface BlobDigest {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Both ends are included, as in the Range header. */
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

/** A row refers to bytes that do not exist. The cause is a defect or a damaged disk, never the caller. */
export class BlobMissing extends Error {
  readonly blobId: string;
  constructor(blobId: string) {
    super(`The bytes of blob ${blobId} are missing.`);
    this.name = 'BlobMissing';
    this.blobId = blobId;
  }
}

/** The disk has a fault where this blob is stored. Failures of the whole storage are other errors. */
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
