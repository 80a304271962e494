import { BlobMissing, type BlobStore, BlobUnreadable } from '../blob-store.ts';
import type { StoredBlobRow, StoredContent } from '../file-repository.ts';
import { hashOf } from './fsck.ts';
import type { ReportDamage } from './report-damage.ts';

export interface VerifyStoredContentDeps {
  /** The live blob that has the content. */
  readonly findContent: (content: StoredContent) => Promise<StoredBlobRow | undefined>;
  readonly blobs: Pick<BlobStore, 'open' | 'size'>;
  readonly reportDamage: ReportDamage;
}

/**
 * Reads the blob that has the content of a new file already, if there is one, and reports it when its bytes are wrong. To be
 * awaited before `FileRepository.add`, which then replaces the damaged blob and never drops new bytes in favour of it.
 */
export async function verifyStoredContent(
  { findContent, blobs, reportDamage }: VerifyStoredContentDeps,
  content: StoredContent,
): Promise<void> {
  const stored = await findContent(content);
  if (stored === undefined || stored.damage !== null) return;
  try {
    // `add` finds what is missing or has another length.
    if ((await blobs.size(stored.blobId)) !== stored.bytes) return;
    if ((await hashOf(await blobs.open(stored.blobId))) !== content.sha256)
      await reportDamage(stored, 'content_differs');
  } catch (error) {
    if (error instanceof BlobUnreadable) await reportDamage(stored, 'unreadable');
    // Missing: deleted after its size was read.
    else if (!(error instanceof BlobMissing)) throw error;
  }
}
