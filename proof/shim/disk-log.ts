import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

const kinds = [
  ...(['', 'created', 'written', 'truncated', 'renamed', 'unlinked', 'linked', 'made', 'removed'] as const),
  ...(['sync-begun', 'sync-ended', 'symlinked', 'mark', 'fault', 'unseen'] as const),
];

/** One effect on the disk, or a mark of the client, in order of time. */
export interface LogEntry {
  readonly kind: (typeof kinds)[number];
  /** Path below the recorded folder. */
  readonly path: string;
  /** The new path of a rename or link. */
  readonly to: string;
  readonly inode: bigint;
  readonly offset: number;
  readonly length: number;
  /** For a sync: the thread. For a fault: the errno. */
  readonly result: number;
  readonly data: Buffer;
}

const headBytes = 40;

export function readDiskLog(path: string): LogEntry[] {
  const bytes = readFileSync(path);
  const entries: LogEntry[] = [];
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const size = bytes.readUInt32LE(at);
    const from = bytes.readUInt16LE(at + 6);
    const to = bytes.readUInt16LE(at + 8);
    if (size < headBytes || at + size > bytes.length) throw new Error(`the log of the disk is damaged at byte ${at}`);
    const names = at + headBytes;
    entries.push({
      kind: kinds[bytes[at + 4] ?? 0] ?? '',
      path: bytes.toString('utf8', names, names + from),
      to: bytes.toString('utf8', names + from, names + from + to),
      inode: bytes.readBigUInt64LE(at + 16),
      offset: Number(bytes.readBigInt64LE(at + 24)),
      length: Number(bytes.readBigInt64LE(at + 32)),
      result: bytes.readInt32LE(at + 12),
      data: bytes.subarray(names + from + to, at + size),
    });
    at += size;
  }
  return entries;
}

/** Inserts marks of the client between the entries of the shim. */
export interface MarkWriter {
  mark(text: string): void;
  close(): void;
}

export function openMarkWriter(path: string): MarkWriter {
  const fd = openSync(path, 'a');
  return {
    mark: (text) => {
      const data = Buffer.from(text);
      const entry = Buffer.alloc(headBytes + data.length);
      entry.writeUInt32LE(entry.length, 0);
      entry[4] = kinds.indexOf('mark');
      data.copy(entry, headBytes);
      // Uses a single write, so that the mark is between two entries.
      writeSync(fd, entry);
    },
    close: () => closeSync(fd),
  };
}
