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
    how: 'in states of the strict model, acknowledged files cannot be read (503)',
  },
  {
    bug: 'an upload is acknowledged before its transaction is committed',
    part: 'power cuts, SQLite',
    how: 'after power cuts right after an answer, acknowledged files are not listed (404)',
  },
  {
    bug: 'the bytes of an upload are deleted after a commit with an unknown outcome',
    part: 'connection to PostgreSQL',
    how: 'a COMMIT that arrives after the error leaves a file without bytes: `fsck` reports `bytes_missing`',
  },
  {
    bug: 'an upload uses the stored blob of the same content without checking it',
    part: 'damaged and swapped files',
    how: 'a blob is removed from a running service: a repeated upload is acknowledged, but the file cannot be read (503)',
  },
  {
    bug: 'the answer to an idempotency key is stored after the transaction of its file instead of within it',
    part: 'power cuts, SQLite',
    how: 'after the power cut, the same key and content get another file or 409 instead of the acknowledged answer',
  },
  {
    bug: 'a commit of SQLite does not sync the log (`synchronous = normal`)',
    part: 'power cuts, search index',
    how: '87 findings in 28 states: chunks of acknowledged commits are missing, and deleted collections can be read',
  },
];

/** Bugs that let one request hold the service. The part with amplifying payloads found them. */
export const plantedHolds: readonly PlantedBug[] = [
  {
    bug: 'quoted names of parts are read by a regular expression in which two branches match a backslash',
    part: 'multipart: 64 backslashes in a file name without an end',
    how: 'no answer: the event loop was blocked until the process was ended after 8 s',
  },
  {
    bug: 'credentials have no limits, and all their encodings are computed before a run',
    part: 'credentials: 32 and 1,000 members and quotation marks for a plugin that declares none',
    how: 'a delay of 124 ms with 32 members, no answer within 8 s with 1,000',
  },
  {
    bug: 'a regular expression of quadratic time removes blanks around the value of a part header',
    part: 'multipart: eight headers with runs of tabs and blanks in the middle',
    how: 'a delay of 306 to 344 ms',
  },
  {
    bug: 'the event loop decompresses and searches the content types of Office files, up to 4 MiB',
    part: 'readers of docx and xlsx: content types of 4 MiB',
    how: 'a delay of 67 and 85 ms',
  },
  {
    bug: 'each word of a question is searched in a list of all its words',
    part: 'a question of 32,768 Chinese characters that are all different',
    how: 'a delay of 778 ms',
  },
  {
    bug: 'the words of a chunk are counted and encoded without a pause',
    part: 'a chunk of 65,535 Chinese characters that are all different',
    how: 'a delay of 50 to 94 ms',
  },
];
