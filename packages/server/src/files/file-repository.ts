import type { Extension, ListQuery, Purpose } from '@quartermaster/contract';
import type { CompletedClaim } from '../idempotency/idempotency-repository.ts';
import type { Page } from '../kernel/page.ts';
import type { BlobDamage } from './blob-repository.ts';

/** A file as its row has it. */
export interface StoredFile {
  readonly id: string;
  readonly projectId: string;
  readonly blobId: string;
  readonly name: string;
  readonly purpose: Purpose;
  readonly extension: Extension;
  readonly bytes: number;
  readonly sha256: string;
  readonly createdAt: number;
}

/** The rows that the commit of an upload writes. */
export interface NewFile {
  /** Its `blobId` is the blob just committed; the stored file may name another one with the same content. */
  readonly file: StoredFile;
  /** Kept in the same transaction; null: the request carried no idempotency key. */
  readonly claim: CompletedClaim | null;
}

/**
 * `claim_lost`: another request with the same idempotency key took over; `no_room`: the bytes of the project's
 * files would exceed its limit; `too_many_files`: their number would. Nothing of the file was kept then.
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
  | { readonly kind: 'too_many_files' };

/** Whether all bytes of a blob are stored. Called within the transaction for a blob that is kept instead of a new one. */
export type IsStored = (blob: { readonly blobId: string; readonly bytes: number }) => Promise<boolean>;

export interface FileLimits {
  /** Limit of bytes of all files of a project, enforced against concurrent uploads too. null: no limit. */
  readonly maxProjectBytes: number | null;
  /** Limit of files of a project, enforced against concurrent uploads too. null: no limit. */
  readonly maxFiles: number | null;
}

export const noFileLimits: FileLimits = { maxProjectBytes: null, maxFiles: null };

/** The number and the bytes of the files of a project. */
export interface ProjectUsage {
  readonly bytes: number;
  readonly files: number;
}

/** A file whose row says that it is being deleted. `removeBlob`: no other file has its bytes. */
export interface DeletingFile {
  readonly fileId: string;
  readonly blobId: string;
  readonly bytes: number;
  readonly removeBlob: boolean;
}

/** Which files a list has. `name`: those with this text in their name, A–Z and a–z alike. */
export type FileQuery = ListQuery & { readonly purpose?: Purpose; readonly name?: string };

/** COMMIT was sent and its outcome is unknown: it may be visible now, later or never. */
export class CommitInDoubt extends Error {
  constructor(cause: unknown) {
    super('It is not known whether the transaction was committed.', { cause });
    this.name = 'CommitInDoubt';
  }
}

/** The rows of files and their blobs. Queries do not return a file that is being deleted. */
export interface FileRepository {
  /**
   * One transaction for all of them; one outcome each, in order. Bytes a live blob of the project has are kept once; a
   * blob that is damaged or not stored is replaced by the new one for all of its files.
   * @throws CommitInDoubt when the files may have been added all the same; after any other error they were not
   */
  add(files: readonly NewFile[], limits: FileLimits, isStored: IsStored): Promise<readonly AddOutcome[]>;
  find(projectId: string, fileId: string): Promise<StoredFile | undefined>;
  /** Newest first unless asked otherwise; the cursors must be ids. */
  list(projectId: string, query: FileQuery): Promise<Page<StoredFile>>;
  /** Records made from the file, newest first. */
  references(
    projectId: string,
    fileId: string,
    limit: number,
  ): Promise<ReadonlyArray<{ readonly collectionId: string; readonly recordId: string }>>;
  /** Bytes of the project's files: a sum that is kept, not made. */
  bytesKept(projectId: string): Promise<number>;
  /** Projects whose kept sums are not those of their files. */
  wrongUsages(): Promise<readonly WrongUsage[]>;
  /** Recomputes the stored usage of a project. Safe with concurrent uploads and deletes. */
  correctUsage(projectId: string): Promise<void>;
  /** Marks the file as deleted, so that queries no longer return it. `in_use`: a record is being created from it. */
  startDelete(projectId: string, fileId: string): Promise<DeletingFile | 'absent' | 'in_use'>;
  /** The bytes are gone (or kept for another file): so go the rows. */
  finishDelete(deleting: DeletingFile): Promise<void>;
  /** Deletes that were started and not finished. */
  unfinishedDeletes(limit: number): Promise<readonly DeletingFile[]>;
  /** Which of these blobs a row names. */
  knownBlobs(blobIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** The live blobs that have these contents in their projects: one for each, in order. */
  findContents(contents: readonly StoredContent[]): Promise<ReadonlyArray<StoredBlobRow | undefined>>;
  /** Blobs with a live row of every project, by id, those that follow `after`. */
  liveBlobs(after: string, limit: number): Promise<ReadonlyArray<StoredBlobRow>>;
}

export interface WrongUsage {
  readonly projectId: string;
  /** Bytes of its files. */
  readonly expected: number;
  /** … as the kept sum has it. */
  readonly found: number;
  /** The number of its files. */
  readonly expectedFiles: number;
  /** … as the kept count has it. */
  readonly foundFiles: number;
}

/** Equal content is stored once within a project. */
export type StoredContent = Pick<StoredFile, 'projectId' | 'sha256'>;

export interface StoredBlobRow {
  readonly blobId: string;
  readonly projectId: string;
  readonly bytes: number;
  readonly sha256: string;
  /** As recorded. */
  readonly damage: BlobDamage | null;
}
