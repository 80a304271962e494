import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createGroupCommit, type GroupCommit } from '../../platform/concurrency/group-commit.ts';
import { closeFile, openFile, syncFile } from './file-system.ts';

/**
 * The folders that contain blobs. Each is created at its first use and stays open. One sync serves all renames that are
 * waiting for it.
 */
export interface BucketFolders {
  create(bucket: string): Promise<void>;
  /** Resolves when every rename into the folder before the call is durable, and the folder itself is. */
  sync(bucket: string): Promise<void>;
  close(): Promise<void>;
}

interface Bucket {
  readonly fd: number;
  readonly syncs: GroupCommit<undefined, undefined>;
}

/** `users` counts the syncs that are running, so that the descriptor is not closed during a sync. */
interface Entry {
  readonly opened: Promise<Bucket>;
  users: number;
}

/** The number of folders that stay open: the current one and those of uploads that began earlier. */
const keptOpen = 4;
const largestGroup = 1024;

export function createBucketFolders(parent: string): BucketFolders {
  const entries = new Map<string, Entry>();

  async function open(bucket: string): Promise<Bucket> {
    const path = join(parent, bucket);
    await mkdir(path, { recursive: true, mode: 0o700 });
    // The entry of a new folder in its parent must survive a power failure too.
    await syncPath(parent);
    const fd = await openFile(path, 'r');
    const syncs = createGroupCommit<undefined, undefined>(async (items) => {
      await syncFile(fd);
      return items;
    }, largestGroup);
    return { fd, syncs };
  }

  function get(bucket: string): Entry {
    const known = entries.get(bucket);
    if (known !== undefined) return known;
    const entry: Entry = { opened: open(bucket), users: 0 };
    entries.set(bucket, entry);
    entry.opened.catch(() => entries.delete(bucket));
    return entry;
  }

  /** Closes the folders that were opened first, unless a sync is running. */
  async function closeIdle(): Promise<void> {
    for (const [bucket, entry] of entries) {
      if (entries.size <= keptOpen) return;
      if (entry.users > 0) continue;
      entries.delete(bucket);
      await closeFile((await entry.opened).fd);
    }
  }

  return {
    async create(bucket) {
      await get(bucket).opened;
    },
    async sync(bucket) {
      const entry = get(bucket);
      entry.users += 1;
      try {
        await (await entry.opened).syncs.add(undefined);
      } finally {
        entry.users -= 1;
      }
      if (entries.size > keptOpen) await closeIdle();
    },
    async close() {
      const opened = await Promise.allSettled([...entries.values()].map((entry) => entry.opened));
      entries.clear();
      for (const bucket of opened) if (bucket.status === 'fulfilled') await closeFile(bucket.value.fd);
    },
  };
}

async function syncPath(path: string): Promise<void> {
  const fd = await openFile(path, 'r');
  try {
    await syncFile(fd);
  } finally {
    await closeFile(fd);
  }
}
