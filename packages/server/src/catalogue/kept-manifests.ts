import { checksDigest } from './checks-digest.ts';
import type { KnownManifests } from './known-manifests.ts';
import { readManifestsFile, writeManifestsFile } from './manifests-file.ts';

/** Remembers from one start to the next which manifests were right: reading and checking them is most of a start. */
export interface KeptManifests extends KnownManifests {
  /**
   * Knows and remembers no more, and holds no memory that it need not.
   * @returns keeps what was asked for, if that has changed; never fails: the next start takes longer
   */
  end(): () => Promise<void>;
}

export interface KeptManifestFiles {
  /** In a folder that nothing but the service writes. */
  readonly file: string;
  /** What came with the product, written when it was installed; only read. */
  readonly shipped?: string;
}

/** Reads what was kept by the same checks; anything else is as nothing. */
export function openKeptManifests({ file, shipped }: KeptManifestFiles): KeptManifests {
  const checks = checksDigest();
  const ready = shipped === undefined ? new Map<string, Buffer>() : readManifestsFile(shipped, checks);
  const stored = readManifestsFile(file, checks);
  const asked = new Map<string, Buffer>();
  let isChanged = false;
  let isOver = false;

  return {
    find: (key) => {
      const shippedOne = ready.get(key);
      const found = shippedOne ?? stored.get(key);
      if (found === undefined) return undefined;
      if (shippedOne === undefined) asked.set(key, found);
      return JSON.parse(found.toString());
    },
    remember: (key, manifest) => {
      if (isOver) return;
      asked.set(key, Buffer.from(JSON.stringify(manifest)));
      isChanged = true;
    },
    end: () => {
      isOver = true;
      const entries = isChanged || asked.size < stored.size ? new Map(asked) : undefined;
      for (const map of [ready, stored, asked]) map.clear();
      return async () => {
        if (entries !== undefined) await writeManifestsFile(file, { checks, entries }).catch(() => undefined);
      };
    },
  };
}
