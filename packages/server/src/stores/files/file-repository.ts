import type { FileListQuery, Purpose } from '@quartermaster/contract';
import type { SnapshotBlob } from '../../platform/database-snapshot.ts';
import type { CompletedClaim } from '../../platform/idempotency/idempotency-repository.ts';
import type { Page } from '../../platform/page.ts';
import type { FileReach } from '../../platform/permissions.ts';
import type { BlobDamage } from './blob-repository.ts';
import type { AccessibleFile } from './file-access.ts';

/** A file as stored in its row. */
export interface StoredFile extends AccessibleFile {
  readonly createdAt: number;
  /** The key that uploaded it, if the key is limited to collections. */
  readonly uploaderId?: string | null;
}

/** An output of a plugin that is stored like a file until it expires. Queries for files do not return it. ADR 0097. */
export interface StoredArtifact extends Omit<StoredFile, 'purpose' | 'extension' | 'projectId'> {
  /** null when the caller had no key. */
  readonly projectId: string | null;
  /** null when the caller had no key. */
  readonly keyId: string | null;
  readonly runId: string;
  readonly mediaType: string;
  readonly expiresAt: number;
}

/** The archive of a bundle, which is stored like a file of no project. `expiresAt` is null for an installed bundle. */
export interface StoredArchive extends Omit<StoredFile, 'purpose' | 'extension' | 'projectId'> {
  readonly projectId: null;
  readonly bundleId: string;
  readonly facts: string;
  readonly expiresAt: number | null;
}

/** The rows that the commit of an upload or of an artifact writes. */
export interface NewFile {
  /** Its `blobId` is the blob just committed. The stored file may use another blob with the same content. */
  readonly file: StoredFile | StoredArtifact | StoredArchive;
  /** Stored in the same transaction; null when the request had no idempotency key. */
  readonly claim: CompletedClaim | null;
}

/**
 * `claim_lost`: another request has claimed the idempotency key. `no_room`: the project's files would exceed its bytes.
 * `too_many_files`: they would exceed its number of files. `no_project`: the project is being deleted. `given_up`: the bytes arrived in the
 * object storage so long ago that the sweep may erase them. In these cases nothing of the file is stored.
 */
export type AddOutcome =
  | {
      readonly kind: 'added';
      readonly blobId: string;
      /** The damaged blob that had this content. Its bytes can be erased. */
      readonly replaced?: string;
    }
  | { readonly kind: 'claim_lost' }
  | { readonly kind: 'no_room' }
  | { readonly kind: 'too_many_files' }
  | { readonly kind: 'no_project' }
  | { readonly kind: 'given_up' };

/**
 * Returns whether all bytes of a blob are stored. Called in the transaction for a blob that is kept instead of a new
 * one.
 */
export type IsStored = (blob: { readonly blobId: string; readonly bytes: number }) => Promise<boolean>;

export interface FileLimits {
  /** Limit on the bytes of all files of a project, also for concurrent uploads; null means no limit. */
  readonly maxProjectBytes: number | null;
  /** Limit on the number of files of a project, also for concurrent uploads; null means no limit. */
  readonly maxFiles: number | null;
}

export const noFileLimits: FileLimits = { maxProjectBytes: null, maxFiles: null };

/** A file that is marked for deletion. `removeBlob` is true when no other file uses its bytes. */
export interface DeletingFile {
  readonly fileId: string;
  readonly blobId: string;
  readonly bytes: number;
  readonly removeBlob: boolean;
}

/** Selects the files of a list. `name` selects those whose name contains the text; A–Z match a–z. */
export type FileQuery = Omit<FileListQuery, 'purpose' | 'collection_type'> & { readonly purposes?: readonly Purpose[] };

/** COMMIT was sent and its outcome is unknown. The change may be visible now, later or never. */
export class CommitInDoubt extends Error {
  constructor(cause: unknown) {
    super('It is not known whether the transaction was committed.', { cause });
    this.name = 'CommitInDoubt';
  }
}

/** Selects what a delete may delete: a file that was uploaded, or an artifact. */
export type FileKind = 'file' | 'artifact';

/** The rows of files and their blobs. Queries do not return a file that is being deleted. */
export interface FileRepository {
  /**
   * Adds all files in one transaction and returns one outcome each, in order. Bytes that a live blob of the project
   * already has are stored once. A damaged or missing blob is replaced by the new one for all of its files.
   * @throws CommitInDoubt when the files may have been added; after any other error they were not
   */
  add(files: readonly NewFile[], limits: FileLimits, isStored: IsStored): Promise<readonly AddOutcome[]>;
  /** @param reach the part of the files that the caller sees; null or absent for all */
  find(projectId: string, fileId: string, reach?: FileReach | null): Promise<StoredFile | undefined>;
  /** Returns the newest first by default. The cursors must be ids. */
  list(projectId: string, query: FileQuery, reach?: FileReach | null): Promise<Page<StoredFile>>;
  /** Returns records created from the file that the caller sees, newest first. */
  references(
    projectId: string,
    fileId: string,
    options: { readonly limit: number; readonly reach: FileReach | null },
  ): Promise<ReadonlyArray<{ readonly collectionId: string; readonly recordId: string }>>;
  /** Returns the bytes of the project's files and of what is stored for its records, from stored sums. */
  bytesKept(projectId: string): Promise<number>;
  /** Returns projects whose stored sums differ from those of their files, records and chunks. */
  wrongUsages(): Promise<readonly WrongUsage[]>;
  /** Recomputes the stored usage of a project. It is safe during uploads and deletes. */
  correctUsage(projectId: string | null): Promise<void>;
  /** Marks the file as deleted, so that queries no longer return it. `in_use`: a record is being created from it. */
  startDelete(projectId: string | null, fileId: string, kind?: FileKind): Promise<DeletingFile | 'absent' | 'in_use'>;
  /** Deletes the rows after the bytes were removed, or were kept for another file. */
  finishDelete(deleting: DeletingFile): Promise<void>;
  /** Returns deletes that have started and not finished. */
  unfinishedDeletes(limit: number): Promise<readonly DeletingFile[]>;
  /** Returns those of the blobs that have a row, or an intent that decides about their object. */
  knownBlobs(blobIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Finds the live blob with each content in its project, in order. */
  findContents(contents: readonly StoredContent[]): Promise<ReadonlyArray<StoredBlobRow | undefined>>;
  /** Returns blobs with a live row of every project, by id, those that follow `after`. */
  liveBlobs(after: string, limit: number): Promise<ReadonlyArray<StoredBlobRow>>;
}

export interface WrongUsage {
  /** null for the artifacts of callers without a key. */
  readonly projectId: string | null;
  /** Total bytes of the project's files. */
  readonly expected: number;
  /** The stored sum of the bytes. */
  readonly found: number;
  /** The number of the project's files. */
  readonly expectedFiles: number;
  /** The stored number of files. */
  readonly foundFiles: number;
  /** Total bytes of the project's chunks without a record. */
  readonly expectedChunkBytes: number;
  /** The stored sum of these bytes. */
  readonly foundChunkBytes: number;
  /** Total bytes of the project's records, with those stored for each of them. */
  readonly expectedRecordBytes: number;
  /** The stored sum of these bytes. */
  readonly foundRecordBytes: number;
  /** Total bytes of the texts of the project's collections, and of the names of its files. */
  readonly expectedTextBytes: number;
  /** The stored sum of these bytes. */
  readonly foundTextBytes: number;
  /** The number of records whose stored bytes differ from those of their chunks and rows. */
  readonly wrongRecords: number;
}

/** Identifies content, which is stored once within a project. */
export type StoredContent = Pick<NewFile['file'], 'projectId' | 'sha256'>;

export interface StoredBlobRow extends Omit<SnapshotBlob, 'files'> {
  /** The recorded damage. */
  readonly damage: BlobDamage | null;
}
