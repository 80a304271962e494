import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { type Extension, type Purpose, purposes } from '@quartermaster/contract';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import type { BlobRepository, FileOfBlob } from '../blob-repository.ts';
import { BlobMissing, type BlobStore, BlobUnreadable } from '../blob-store.ts';
import { type FileRepository, noFileLimits, type StoredBlobRow, type StoredContent } from '../file-repository.ts';
import { blobNotQuarantined, blobStillNamed, notTheContent, purposeNotAllowed } from '../problems.ts';
import { hashOf } from './fsck.ts';
import type { ReportDamage } from './report-damage.ts';

export interface QuarantineDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly files: FileRepository;
  readonly blobs: BlobStore;
  readonly damages: BlobRepository;
  readonly reportDamage: ReportDamage;
}

export interface QuarantinedBlob {
  readonly blobId: string;
  readonly bytes: number;
  /** Null when the disk cannot read the bytes. */
  readonly sha256: string | null;
  /** Milliseconds. */
  readonly quarantinedAt: number;
  /** Files that used this blob when the damage was found. */
  readonly files: readonly FileOfBlob[];
}

const mostFiles = 100;

/** Lists the quarantine and reads every blob to compute its hash. */
export async function* listQuarantine({ blobs, damages }: QuarantineDeps): AsyncGenerator<QuarantinedBlob> {
  for await (const { blobId, bytes, modifiedAt } of blobs.quarantine.list()) {
    const sha256 = await hashIfReadable(blobs, blobId);
    yield { blobId, bytes, sha256, quarantinedAt: modifiedAt, files: await damages.filesOf([blobId], mostFiles) };
  }
}

async function hashIfReadable({ quarantine }: BlobStore, blobId: string): Promise<string | null> {
  try {
    return await hashOf(await quarantine.open(blobId));
  } catch (error) {
    if (error instanceof BlobUnreadable) return null;
    throw error;
  }
}

/**
 * Moves bytes back to their place, where the rows of a restored database find them. Bytes without a row stay
 * unreadable, and the next sweep after the grace period quarantines them again. Bytes that differ from the content of
 * their files stay in the quarantine.
 */
export async function restoreBlob({ files, blobs, damages }: QuarantineDeps, blobId: string): Promise<void> {
  const [named] = await damages.filesOf([blobId], 1);
  const file = named?.projectId == null ? undefined : await files.find(named.projectId, named.fileId);
  if (file !== undefined && (await hashOf(await openQuarantined(blobs, blobId))) !== file.sha256) {
    throw notTheContent(blobId, file);
  }
  const outcome = await blobs.quarantine.restore(blobId);
  if (outcome === 'absent') throw blobNotQuarantined(blobId);
  if (outcome === 'exists') throw blobStillNamed(blobId);
  if (file !== undefined) await damages.clearDamage(blobId);
}

async function openQuarantined({ quarantine }: BlobStore, blobId: string): Promise<Readable> {
  try {
    return await quarantine.open(blobId);
  } catch (error) {
    throw error instanceof BlobMissing ? blobNotQuarantined(blobId) : error;
  }
}

/** The properties of a file to create. */
export interface RestoredFile {
  readonly projectId: string;
  readonly name: string;
  readonly purpose: Purpose;
}

/**
 * Creates a file from bytes that have no row.
 * @returns its id
 */
export async function restoreAsFile(deps: QuarantineDeps, blobId: string, wanted: RestoredFile): Promise<string> {
  const { files, blobs, clock, newId } = deps;
  const extension = extname(wanted.name).slice(1).toLowerCase();
  const allowed: readonly string[] = purposes[wanted.purpose].extensions;
  if (!allowed.includes(extension)) throw purposeNotAllowed(extension, wanted.purpose);
  if ((await files.knownBlobs([blobId])).has(blobId)) throw blobStillNamed(blobId);
  await restoreBlob(deps, blobId);
  const sha256 = await hashOf(await blobs.open(blobId));
  const bytes = (await blobs.size(blobId)) ?? 0;
  const file = {
    ...wanted,
    id: newId('file'),
    blobId,
    bytes,
    sha256,
    createdAt: clock.now(),
    extension: extension as Extension, // one of `allowed`
  };
  const isStored = async (blob: { blobId: string; bytes: number }) => (await blobs.size(blob.blobId)) === blob.bytes;
  await verifyStoredContent(
    { ...deps, findContent: async (content) => (await files.findContents([content]))[0] },
    file,
  );
  const [outcome] = await files.add([{ file, claim: null }], noFileLimits, isStored);
  if (outcome?.kind !== 'added') throw new Error('The file was not added.');
  if (outcome.blobId !== blobId) await blobs.remove(blobId);
  if (outcome.replaced !== undefined) await blobs.remove(outcome.replaced);
  return file.id;
}

interface VerifyStoredContentDeps {
  /** Returns the live blob that has the content. */
  readonly findContent: (content: StoredContent) => Promise<StoredBlobRow | undefined>;
  readonly blobs: Pick<BlobStore, 'open' | 'size'>;
  readonly reportDamage: ReportDamage;
}

/**
 * Reads the existing blob with the content of a new file, if there is one, and reports wrong bytes. The caller awaits
 * it before `FileRepository.add`. That call then replaces a damaged blob and never discards the new bytes in favour of
 * it.
 */
export async function verifyStoredContent(
  { findContent, blobs, reportDamage }: VerifyStoredContentDeps,
  content: StoredContent,
): Promise<void> {
  const stored = await findContent(content);
  if (stored === undefined || stored.damage !== null) return;
  try {
    // `add` detects bytes that are missing or have another length.
    if ((await blobs.size(stored.blobId)) !== stored.bytes) return;
    if ((await hashOf(await blobs.open(stored.blobId))) !== content.sha256)
      await reportDamage(stored, 'content_differs');
  } catch (error) {
    if (error instanceof BlobUnreadable) await reportDamage(stored, 'unreadable');
    // A missing blob was deleted after its size was read.
    else if (!(error instanceof BlobMissing)) throw error;
  }
}
