import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { DatabaseSnapshot, SnapshotBlob } from './snapshot-port.ts';

/** In a backup: the blobs that its database names, one JSON object a line. */
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

/** Gives the blobs of a list in parts. */
export async function* readBlobList(file: string): AsyncGenerator<readonly SnapshotBlob[]> {
  let part: SnapshotBlob[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    // Written by `writeBlobList`; the hash in `backup.json` shows that it is unchanged.
    part.push(JSON.parse(line) as SnapshotBlob);
    if (part.length < batch) continue;
    yield part;
    part = [];
  }
  yield part;
}
