/** A bug that was deliberately built into the service, and the part of the proof that found it. */
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

/** Bugs that let one request hold the service. The part with amplifying payloads found them. */
export const plantedHolds: readonly PlantedBug[] = [
  {
    bug: 'quoted names of parts are read with a regular expression in which a backslash fits two branches',
    part: 'multipart, 64 backslashes in a file name that does not end',
    how: 'no answer: the event loop stood still until the process was ended after 8 s',
  },
  {
    bug: 'credentials have no bounds, and all their encodings are built before a run',
    part: 'credentials, 32 and 1,000 members and quotation marks for a plugin that takes none',
    how: 'a delay of 124 ms with 32 members, no answer within 8 s with 1,000',
  },
  {
    bug: 'blanks around the value of a part header are removed with a regular expression that is quadratic',
    part: 'multipart, eight headers with runs of tabs and blanks in the middle',
    how: 'a delay of 306 to 344 ms',
  },
  {
    bug: 'the content types of Office files are unpacked and searched on the event loop, up to 4 MiB',
    part: 'readers of docx and xlsx, content types of 4 MiB',
    how: 'a delay of 67 and 85 ms',
  },
  {
    bug: 'each word of a question is looked up in a list of all its words',
    part: 'a question of 32,768 Chinese characters that are all different',
    how: 'a delay of 778 ms',
  },
  {
    bug: 'the words of a chunk are counted and encoded at once',
    part: 'a chunk of 65,535 Chinese characters that are all different',
    how: 'a delay of 50 to 94 ms',
  },
  {
    bug: 'a batch of MCP may hold 100 calls and has no bound on its answers',
    part: 'MCP, 100 calls of a plugin that returns 520 KB',
    how: 'a delay of 1,338 ms, 869 MiB above rest',
  },
];
