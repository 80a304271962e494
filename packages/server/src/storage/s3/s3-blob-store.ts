import { createHash } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { isId } from '../../platform/identifier.ts';
import {
  BlobMissing,
  type BlobQuarantine,
  type BlobStore,
  type ByteRange,
  type OpenedBlob,
  type StoredBlob,
} from '../../stores/files/blob-store.ts';
import { bucketOf, createRoomCheck, sweepStaging } from '../disk/disk-blob-store.ts';
import { createStagedFile, type StagingFile } from '../disk/staging-file.ts';
import type { BlobIntents } from '../repositories/blob-intents.ts';
import { createPartsUpload, type PartsUpload } from './parts-upload.ts';
import { bodyOfStaged, bodyOfText, type StagedRange } from './s3-bodies.ts';
import type { S3Answer, S3Client } from './s3-client.ts';
import { createS3Objects, mostBytesOfPut, type S3Objects } from './s3-objects.ts';
import { objectStorageFailure, placeClaimed } from './s3-problems.ts';

export interface S3BlobStoreDeps {
  readonly client: S3Client;
  /** The data folder. Bytes that arrive are kept in its folder `staging` until they are sent. */
  readonly folder: string;
  readonly leastFreeBytes?: number;
  readonly intents: Pick<BlobIntents, 'add' | 'renew' | 'discard'>;
  /** The id in the mark while the place belongs to this store. */
  readonly blobsId: string;
}

/** The object that says which store the place belongs to. Without it, no object counts as missing. */
export const markKey = 'store.json';
/** The row of the store names the second id. A restored store gets a new one, so that earlier nodes stop. */
export interface PlaceMark {
  readonly store_id: string;
  readonly blobs_id: string;
}

export async function readMark(objects: Pick<S3Objects, 'read'>): Promise<PlaceMark | undefined> {
  const text = await objects.read(markKey);
  // This module writes the JSON. An object that is not JSON stops the start.
  return text === undefined ? undefined : JSON.parse(text);
}

export async function writeMark(objects: Pick<S3Objects, 'put'>, mark: PlaceMark): Promise<void> {
  await objects.put(markKey, bodyOfText(`${JSON.stringify(mark)}\n`));
}

/** Milliseconds for which a successful check is reused. */
const checkHolds = 5_000;

/**
 * Stores blobs as objects: `blobs/<2 digits>/<blobId>`, where the digits are a hash of the id, and `quarantine/<blobId>`. An id
 * names the same bytes for ever, so a request that is repeated or arrives late does no harm, and no request has a condition. A row
 * of the intents precedes each object. Source: ADR 0179.
 */
export async function openS3BlobStore(deps: S3BlobStoreDeps): Promise<BlobStore> {
  const { client, folder, leastFreeBytes = 0, intents, blobsId } = deps;
  const staging = join(folder, 'staging');
  await mkdir(staging, { recursive: true, mode: 0o700 });
  await chmod(staging, 0o700);
  await sweepStaging(staging);
  const objects = createS3Objects(client);
  const place = createPlaceCheck(objects, blobsId);
  return {
    ...createBlobReader(objects, place),
    checkRoom: createRoomCheck(folder, leastFreeBytes),
    quarantine: createS3Quarantine(objects, place),
    stage(blobId) {
      const key = keyOf(blobId);
      let parts: PartsUpload | undefined;
      const partsOf = ({ read }: StagingFile) => {
        const bodyOf = (range: StagedRange) => bodyOfStaged(read, range);
        const intent = { intend: () => intents.add(blobId), renew: () => intents.renew(blobId) };
        parts ??= createPartsUpload({ objects, key, bodyOf, ...intent });
        return parts;
      };
      return createStagedFile({
        blobId,
        stagingPath: join(staging, `${blobId}.${process.pid}`),
        grown: (file) => {
          if (file.written() > mostBytesOfPut) partsOf(file).grown(file.written());
        },
        persist: async ({ file, digest, read }) => {
          if (digest.bytes > mostBytesOfPut) {
            await partsOf(file).finish(digest.bytes);
          } else {
            await intents.add(blobId);
            await objects.put(key, await bodyOfStaged(read, { start: 0, ...digest }));
          }
          await file.remove();
        },
        cancel: async () => await parts?.abort(),
      });
    },
    // The sweep erases the bytes later, because backups name them.
    remove: intents.discard,
    check: place.check,
    close: client.close,
  };
}

/** Reads blobs without changing anything. */
export function createBlobReader(objects: S3Objects, place: PlaceCheck): Pick<BlobStore, 'open' | 'size' | 'list'> {
  return {
    open: (blobId, range) => openObject(objects, { key: keyOf(blobId), blobId, place }, range),
    async size(blobId) {
      const found = await objects.size(keyOf(blobId));
      if (found === undefined) await place.check();
      return found;
    },
    list: () => listBlobs(objects, 'blobs'),
  };
}

/** Erases the bytes of a blob, including quarantined ones. */
export async function eraseBlob(objects: Pick<S3Objects, 'remove'>, blobId: string): Promise<void> {
  await objects.remove(keyOf(blobId));
  await objects.remove(heldKeyOf(blobId));
}

export function keyOf(blobId: string): string {
  bucketOf(blobId); // checks the id
  return `blobs/${createHash('sha256').update(blobId).digest('hex').slice(0, 2)}/${blobId}`;
}

function heldKeyOf(blobId: string): string {
  bucketOf(blobId); // checks the id
  return `quarantine/${blobId}`;
}

type PlaceCheck = ReturnType<typeof createPlaceCheck>;

export function createPlaceCheck(objects: Pick<S3Objects, 'read'>, blobsId: string) {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  async function look(): Promise<void> {
    const startedAt = performance.now();
    const mark = await readMark(objects);
    if (mark === undefined) throw objectStorageFailure(new Error(`The object ${markKey} of the store is missing.`));
    if (mark.blobs_id !== blobsId) throw placeClaimed();
    checkedAt = startedAt;
  }
  return {
    /**
     * Rejects when the bucket or the mark of the store is missing or cannot be read, or when a restored store has taken the place
     * over. Calls at the same time share a request.
     */
    async check(): Promise<void> {
      if (performance.now() - checkedAt < checkHolds) return;
      running ??= look().finally(() => {
        running = undefined;
      });
      await running;
    },
  };
}

async function* listBlobs(objects: S3Objects, folder: string): AsyncGenerator<StoredBlob> {
  for await (const { name, bytes, modifiedAt } of objects.list(folder)) {
    if (isId(name)) yield { blobId: name, bytes, modifiedAt };
  }
}

function createS3Quarantine(objects: S3Objects, place: PlaceCheck): BlobQuarantine {
  async function move(from: string, to: string): Promise<boolean> {
    if (!(await objects.copy(from, to))) return false;
    await objects.remove(from);
    return true;
  }
  return {
    add: (blobId) => move(keyOf(blobId), heldKeyOf(blobId)),
    async restore(blobId) {
      if ((await objects.size(heldKeyOf(blobId))) === undefined) return 'absent';
      if ((await objects.size(keyOf(blobId))) !== undefined) return 'exists';
      return (await move(heldKeyOf(blobId), keyOf(blobId))) ? 'restored' : 'absent';
    },
    async purge(blobId) {
      const key = heldKeyOf(blobId);
      if ((await objects.size(key)) === undefined) return false;
      await objects.remove(key);
      return true;
    },
    open: (blobId) => openObject(objects, { key: heldKeyOf(blobId), blobId, place }),
    list: () => listBlobs(objects, 'quarantine'),
  };
}

interface ObjectToOpen {
  readonly key: string;
  readonly blobId: string;
  readonly place: PlaceCheck;
}

async function openObject(
  objects: S3Objects,
  { key, blobId, place }: ObjectToOpen,
  range?: ByteRange,
): Promise<OpenedBlob> {
  const first = await objects.get(key, range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` });
  if (first === undefined) {
    await place.check();
    throw new BlobMissing(blobId);
  }
  const total = totalOf(first);
  const wanted = range ?? { start: 0, end: total - 1 };
  const resume = async (start: number) => {
    const again = await objects.get(key, { range: `bytes=${start}-${wanted.end}`, 'if-match': etagOf(first) });
    if (again === undefined) throw new BlobMissing(blobId);
    return again;
  };
  const pieces = readObject({ first, wanted, resume });
  const stream = Readable.from(pieces, { objectMode: false, highWaterMark: 256 * 1024 });
  // A stream that is destroyed before its first read never starts the generator. Nobody reads the error of its body then.
  first.body.on('error', () => {});
  stream.once('close', () => first.body.destroy());
  return Object.assign(stream, { blobBytes: total });
}

const mostFailures = 5;

/** Reads the wanted bytes, and continues with the next byte when the connection breaks off. */
async function* readObject(about: {
  readonly first: S3Answer;
  readonly wanted: ByteRange;
  readonly resume: (start: number) => Promise<S3Answer>;
}): AsyncGenerator<Buffer> {
  const { first, wanted, resume } = about;
  let [answer, at, failures] = [first, wanted.start, 0];
  for (;;) {
    if (startOf(answer) !== at)
      throw objectStorageFailure(new Error('The answer holds another range than the wanted one.'));
    let cause: unknown;
    try {
      for await (const piece of answer.body as AsyncIterable<Buffer>) {
        const taken = piece.subarray(0, wanted.end + 1 - at);
        at += taken.length;
        failures = 0;
        if (taken.length > 0) yield taken;
      }
    } catch (error) {
      cause = error;
    }
    if (at > wanted.end) return;
    failures += 1;
    if (failures > mostFailures) throw objectStorageFailure(cause ?? new Error('The object ended early.'));
    await pause(failures * 100);
    answer = await resume(at);
  }
}

const etagOf = ({ headers }: S3Answer) => String(headers.etag);

/** The position of the first byte of an answer. A service that ignores a range sends all bytes. */
function startOf({ status, headers }: S3Answer): number {
  return status === 206 ? Number(/^bytes (\d+)-/.exec(String(headers['content-range']))?.[1]) : 0;
}

function totalOf({ status, headers }: S3Answer): number {
  return Number(status === 206 ? String(headers['content-range']).split('/')[1] : headers['content-length']);
}
