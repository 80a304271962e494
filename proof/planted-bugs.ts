/** A bug that was built into the service by hand, and the part of the proof that found it. */
export interface PlantedBug {
  readonly bug: string;
  readonly part: string;
  readonly how: string;
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    bug: 'the folder of a blob is not synced after the rename',
    part: 'power cuts, SQLite',
    how: 'states of the strict model: acknowledged files cannot be read (503)',
  },
  {
    bug: 'an upload is answered before its transaction is committed',
    part: 'power cuts, SQLite',
    how: 'cuts right after an answer: acknowledged files are not listed (404)',
  },
  {
    bug: 'the bytes of an upload are deleted after a commit of unknown outcome',
    part: 'line to PostgreSQL',
    how: 'a COMMIT that lands after the error leaves a file without bytes: `fsck` finds `bytes_missing`',
  },
  {
    bug: 'an upload takes the stored blob of the same content without looking at it',
    part: 'damaged and swapped files',
    how: 'a blob removed from a running service: the file sent again is acknowledged and cannot be read (503)',
  },
  {
    bug: 'the answer to an idempotency key is stored after the transaction of its file, not within',
    part: 'power cuts, SQLite',
    how: 'the same key and content after the cut: another file, or 409, instead of the acknowledged answer',
  },
];
