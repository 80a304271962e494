import { createHash } from 'node:crypto';
import type { Clock } from '../../../platform/clock.ts';
import type { BlobRepository, Verification } from '../blob-repository.ts';
import { BlobMissing, type BlobStore, BlobUnreadable } from '../blob-store.ts';
import type { FileRepository, StoredBlobRow } from '../file-repository.ts';
import type { ReportDamage } from './report-damage.ts';

export interface VerifyBlobsDeps {
  readonly files: Pick<FileRepository, 'liveBlobs'>;
  readonly blobs: Pick<BlobStore, 'open' | 'size'>;
  readonly progress: Pick<BlobRepository, 'findVerification' | 'saveVerification' | 'clearDamage'>;
  readonly reportDamage: ReportDamage;
  readonly clock: Clock;
  /** Milliseconds from the start of one pass to the start of the next. */
  readonly passEvery: number;
  /** Called for every block read. Resolves when the next block may be read. */
  readonly throttle: (bytes: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds after which the progress is saved and the pause flag is read. */
  readonly checkpointMs?: number;
}

const batch = 100;

/** Stops a pass within a blob. */
class Paused extends Error {}

/**
 * Reads every stored blob once per period and compares it with its hash. The progress is stored in the database, so a
 * restart continues there. A partially read blob is read again. Returns when the pass is over, when the next one is not
 * yet due, or when it is paused.
 */
export async function verifyBlobs(deps: VerifyBlobsDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    const found = await deps.progress.findVerification();
    if (found?.paused === true) return;
    const current = found === undefined || isOver(found) ? startPass(deps, found) : found;
    if (current === undefined) return;
    const rows = await deps.files.liveBlobs(current.position, batch);
    const { blobs, bytes } = await verifySome(deps, rows, signal);
    const isLast = blobs === rows.length && rows.length < batch;
    await deps.progress.saveVerification({
      position: rows[blobs - 1]?.blobId ?? current.position,
      passStartedAt: current.passStartedAt,
      passBlobs: current.passBlobs + blobs,
      passBytes: current.passBytes + bytes,
      finishedAt: isLast ? deps.clock.now() : current.finishedAt,
    });
    if (isLast) return;
  }
}

/**
 * Verifies the blobs in order until the checkpoint.
 * @returns the number of blobs and bytes read
 */
async function verifySome(deps: VerifyBlobsDeps, rows: readonly StoredBlobRow[], signal: AbortSignal) {
  const { checkpointMs = 10_000 } = deps;
  const isDue = (since: number) => performance.now() - since >= checkpointMs;
  const startedAt = performance.now();
  let lookedAt = startedAt;
  const throttle: VerifyBlobsDeps['throttle'] = async (bytes, stop) => {
    await deps.throttle(bytes, stop);
    if (!isDue(lookedAt)) return;
    lookedAt = performance.now();
    if ((await deps.progress.findVerification())?.paused === true) throw new Paused();
  };
  let [blobs, bytes] = [0, 0];
  try {
    for (const row of rows) {
      bytes += await verifyBlob({ ...deps, throttle }, row, signal);
      blobs += 1;
      if (isDue(startedAt)) break;
    }
  } catch (error) {
    if (!(error instanceof Paused)) throw error;
  }
  return { blobs, bytes };
}

function isOver({ finishedAt, passStartedAt }: Verification): boolean {
  return finishedAt !== null && finishedAt >= passStartedAt;
}

/** Returns undefined when the next pass is not yet due. */
function startPass({ clock, passEvery }: VerifyBlobsDeps, last: Verification | undefined): Verification | undefined {
  const now = clock.now();
  if (last !== undefined && now < last.passStartedAt + passEvery) return undefined;
  const finishedAt = last?.finishedAt ?? null;
  return { position: '', passStartedAt: now, passBlobs: 0, passBytes: 0, finishedAt, paused: false };
}

/** @returns the number of bytes read */
async function verifyBlob(deps: VerifyBlobsDeps, row: StoredBlobRow, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const found = await deps.blobs.size(row.blobId);
    if (found !== row.bytes) {
      await deps.reportDamage(row, found === undefined ? 'missing' : 'size_differs');
      return 0;
    }
    for await (const block of (await deps.blobs.open(row.blobId)) as AsyncIterable<Buffer>) {
      hash.update(block);
      bytes += block.length;
      await deps.throttle(block.length, signal);
    }
  } catch (error) {
    if (error instanceof BlobUnreadable) await deps.reportDamage(row, 'unreadable');
    // A missing blob was deleted after its size was read.
    else if (!(error instanceof BlobMissing)) throw error;
    return bytes;
  }
  if (hash.digest('hex') !== row.sha256) await deps.reportDamage(row, 'content_differs');
  else if (row.damage !== null) await deps.progress.clearDamage(row.blobId);
  return bytes;
}
