import { BlobMissing, type BlobStore, BlobUnreadable } from '../blob-store.ts';
import type { StoredBlobRow, StoredContent } from '../file-repository.ts';
import { hashOf } from './fsck.ts';
import type { ReportDamage } from './report-damage.ts';

export interface VerifyStoredContentDeps {
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
