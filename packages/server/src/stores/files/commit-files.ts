import type { Logger } from '../../platform/log/logger.ts';
import type { BlobStore, StagedBlob } from './blob-store.ts';
import { type AddOutcome, CommitInDoubt } from './file-repository.ts';

export interface CommitFilesDeps {
  readonly blobs: Pick<BlobStore, 'remove'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Adds the rows of durable bytes, for uploads and artifacts. Bytes are removed only when it is certain that no row refers to them. A
 * failure to remove them changes no result: the sweep quarantines them later.
 * @param durable the blobs; `add` may append those that it makes durable itself
 * @param add stores the rows in one transaction
 * @throws what `add` throws. After {@link CommitInDoubt} the rows may exist, after other errors they do not
 */
export async function commitFiles(
  deps: CommitFilesDeps,
  durable: BlobIds,
  add: () => Promise<readonly AddOutcome[]>,
): Promise<readonly AddOutcome[]> {
  let outcomes: readonly AddOutcome[];
  try {
    outcomes = await add();
  } catch (error) {
    if (!(error instanceof CommitInDoubt)) await removeUnneeded(deps, durable);
    throw error;
  }
  const added = outcomes.filter((outcome) => outcome.kind === 'added');
  const used = new Set(added.map(({ blobId }) => blobId));
  const unused = durable.filter(({ blobId }) => !used.has(blobId));
  const replaced = added.flatMap(({ replaced: blobId }) => (blobId === undefined ? [] : [{ blobId }]));
  await removeUnneeded(deps, [...unused, ...replaced]);
  return outcomes;
}

type BlobIds = ReadonlyArray<{ readonly blobId: string }>;

async function removeUnneeded({ blobs, logger }: CommitFilesDeps, unneeded: BlobIds): Promise<void> {
  for (const { blobId } of unneeded) {
    await blobs.remove(blobId).catch((err: unknown) => {
      logger.warn({ err, blob_id: blobId }, 'unneeded blob not removed');
    });
  }
}

/** Discards staged bytes at the end of a request. A failure does not change the result of the request. The next start removes remaining bytes. */
export async function discardStaged(logger: Pick<Logger, 'warn'>, staged: StagedBlob): Promise<void> {
  await staged.discard().catch((err: unknown) => {
    logger.warn({ err, blob_id: staged.blobId }, 'staged bytes not removed');
  });
}
