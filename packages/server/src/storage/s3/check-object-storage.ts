import { randomUUID } from 'node:crypto';
import { createPartsUpload } from './parts-upload.ts';
import { bodyOfText } from './s3-bodies.ts';
import { createS3Client, type S3Body, type S3Client, type S3Place } from './s3-client.ts';
import { createS3Objects, type S3Objects } from './s3-objects.ts';
import { S3Error } from './s3-problems.ts';

/** Milliseconds. Services refuse requests of a clock that differs by 15 minutes. */
const mostClockDifference = 60_000;
/** Milliseconds after which no other check can still use its object. */
const abandonedAfter = 3_600_000;

const name = 'object storage';

export interface ObjectStorageCheck {
  readonly name: typeof name;
  readonly state: 'ok' | 'warning' | 'failed';
  /** Describes the result. For a warning or a failure, it also names the remedy. */
  readonly message: string;
}

/**
 * Checks that object storage can be used, with objects of its own, which it erases: it writes, lists, reads and deletes, and sends
 * uploads that a service must refuse, because the store relies on this. It also erases what checks of stopped processes left behind.
 * Source: ADR 0179.
 */
export async function* checkObjectStorage(place: S3Place, signal?: AbortSignal): AsyncGenerator<ObjectStorageCheck> {
  const client = createS3Client(place);
  signal?.addEventListener('abort', () => void client.close());
  const objects = createS3Objects(client);
  const key = `doctor/${randomUUID()}`;
  try {
    await tryOperations(objects, key);
    yield { name, state: 'ok', message: `objects of ${place.bucket} can be written, listed, read and deleted` };
    yield await checkClock(client, key);
    const accepted = await findAcceptedUploads(objects, key);
    yield accepted.length === 0
      ? { name, state: 'ok', message: 'wrong and incomplete uploads are refused' }
      : {
          name,
          state: 'failed',
          message: `The service is not fit for a store: it accepts an upload ${accepted.join(', and ')}. Damaged content would look stored. Use another service.`,
        };
  } catch (error) {
    yield { name, state: 'failed', message: messageOf(error) };
  } finally {
    await objects.remove(key).catch(() => undefined);
    await client.close();
  }
}

async function tryOperations(objects: S3Objects, key: string): Promise<void> {
  const body = bodyOfText(key);
  const intent = { intend: async () => undefined, renew: async () => undefined };
  const parts = createPartsUpload({ objects, key, bodyOf: async () => body, ...intent });
  try {
    await parts.finish(body.bytes);
  } finally {
    await parts.abort();
  }
  const before = Date.now() - abandonedAfter;
  await objects.abortUploads('doctor/', before);
  await objects.remove(key);
  if ((await objects.size(key)) !== undefined) throw new Error('A deleted object is still there. Use another service.');
  await objects.put(key, body);
  const listed = await Array.fromAsync(objects.list('doctor'));
  if ((await objects.read(key)) !== key || !listed.some(({ name: found }) => `doctor/${found}` === key))
    throw new Error('A new object is not read or listed as it was written. Use another service.');
  for (const left of listed) if (left.modifiedAt < before) await objects.remove(`doctor/${left.name}`);
}

async function checkClock(client: S3Client, key: string): Promise<ObjectStorageCheck> {
  const { headers } = await client.send({ method: 'HEAD', key });
  const difference = Date.parse(String(headers.date)) - Date.now();
  if (!(Math.abs(difference) > mostClockDifference))
    return { name, state: 'ok', message: 'the clock of this machine agrees with that of the service' };
  return {
    name,
    state: 'warning',
    message: `The clock of the service differs by ${Math.round(difference / 1000)} s. A difference of 15 minutes ends all requests. Synchronise the clock of this machine.`,
  };
}

/** @returns descriptions of the uploads that the service should have refused */
async function findAcceptedUploads(objects: S3Objects, key: string): Promise<readonly string[]> {
  const [right, other] = [bodyOfText(key), bodyOfText('other')];
  const uploads: ReadonlyArray<readonly [string, S3Body]> = [
    ['whose bytes do not match their signed hash', { ...right, sha256: other.sha256 }],
    ['whose bytes do not match Content-MD5', { ...right, md5: other.md5 }],
    ['that was cut off', { ...right, open: cutOff }],
  ];
  const accepted: string[] = [];
  for (const [description, body] of uploads) {
    await objects.remove(key);
    const isRefused = await objects.put(key, body).then(() => false, isRefusal);
    if (!isRefused || (await objects.size(key)) !== undefined) accepted.push(description);
  }
  return accepted;
}

/** The client closes the connection after the first bytes. */
async function* cutOff(): AsyncGenerator<Buffer> {
  yield Buffer.from('doctor');
  throw new Error('This upload is cut off on purpose.');
}

/** The client has tried several times. Other failures than a refusal and the cut of this check say nothing. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof S3Error ? cause.status < 500 : String(cause).includes('on purpose')) return true;
  throw error;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && !(cause instanceof S3Error) ? `${error.message} (${cause.message})` : error.message;
}
