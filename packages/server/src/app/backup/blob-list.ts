import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { DatabaseSnapshot, SnapshotBlob } from '../../platform/database-snapshot.ts';

/** The file of a backup that lists the blobs of its database, one JSON object per line. */
export const blobListFile = 'blobs.jsonl';

export interface BlobTotals {
  readonly blobs: number;
  readonly bytes: number;
}

const batch = 500;

/** Writes the list of blobs of a snapshot, so that the snapshot need not stay open while their bytes are copied. */
export async function writeBlobList(file: string, snapshot: Pick<DatabaseSnapshot, 'liveBlobs'>): Promise<BlobTotals> {
  const list = await open(file, 'w', 0o600);
  let [blobs, bytes] = [0, 0];
  try {
    for (let after = ''; ; ) {
      const page = await snapshot.liveBlobs(after, batch);
      await list.writeFile(page.map((blob) => `${JSON.stringify(blob)}\n`).join(''));
      blobs += page.length;
      for (const blob of page) bytes += blob.bytes;
      after = page.at(-1)?.blobId ?? after;
      if (page.length < batch) return { blobs, bytes };
    }
  } finally {
    await list.close();
  }
}

/** Returns the blobs of a list in parts. */
export async function* readBlobList(file: string): AsyncGenerator<readonly SnapshotBlob[]> {
  let part: SnapshotBlob[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    // `writeBlobList` wrote the line, and the hash in `backup.json` proves that it is unchanged.
    part.push(JSON.parse(line) as SnapshotBlob);
    if (part.length < batch) continue;
    yield part;
    part = [];
  }
  yield part;
}
