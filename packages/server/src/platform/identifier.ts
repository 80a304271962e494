import { randomFillSync } from 'node:crypto';
import { type Clock, systemClock } from './clock.ts';

/** The prefix of each kind of id. Ids have 24 characters: prefix (4), time (8), random (12), all `[a-z0-9]`. */
export const idPrefixes = {
  project: 'proj',
  key: 'apik',
  file: 'file',
  blob: 'blob',
  artifact: 'arti',
  collection: 'coll',
  record: 'rcrd',
  chunk: 'chnk',
  row: 'rrow',
  run: 'xrun',
  credentialProfile: 'prof',
  connection: 'conn',
  bundleClient: 'bcli',
  account: 'acct',
  session: 'sess',
  grant: 'gran',
  client: 'clnt',
  auditEvent: 'audt',
  rateLimit: 'rate',
  bundleArchive: 'bndl',
} as const;
/** The prefix of an account that an earlier migration took over. */
export const formerAccountPrefix = 'admn';
export type IdKind = keyof typeof idPrefixes;
export type NewId = (kind: IdKind) => string;

export const idLength = 24;
const timeLength = 8;
const randomLength = 12;

/**
 * Creates ids that sort by creation time. Within one millisecond the order is kept too: the random part then grows by a random
 * step. It has 61 random bits from a CSPRNG.
 */
export function createNewId(clock: Clock = systemClock): NewId {
  let lastTime = -1;
  let lastRandom = 0n;
  return (kind) => {
    const time = Math.max(clock.now(), lastTime);
    lastRandom = time === lastTime ? lastRandom + randomBits(40) + 1n : randomBits(61);
    lastTime = time;
    return idPrefixes[kind] + base36(BigInt(time), timeLength) + base36(lastRandom, randomLength);
  };
}

/** Returns a lower bound, not an id: ids created at this time (milliseconds) or later sort after it, older ones before. */
export function lowestIdAt(kind: IdKind, time: number): string {
  return idPrefixes[kind] + base36(BigInt(Math.min(Math.max(0, Math.floor(time)), latestTime)), timeLength);
}

/** The latest time that fits into the characters of the time. */
const latestTime = 36 ** timeLength - 1;

/** Random bytes are drawn in blocks: one call for 512 ids. */
const block = Buffer.alloc(4096);
let used = block.length;

function randomBits(bits: number): bigint {
  if (used === block.length) {
    randomFillSync(block);
    used = 0;
  }
  const value = block.readBigUInt64BE(used);
  used += 8;
  return value >> BigInt(64 - bits);
}

function base36(value: bigint, length: number): string {
  return value.toString(36).padStart(length, '0');
}

const shape = /^[a-z]{4}[a-z0-9]{20}$/;
/** Whether a text has the form of an id. Other texts cannot identify anything and must not become part of a path. */
export function isId(text: string): boolean {
  return shape.test(text);
}
