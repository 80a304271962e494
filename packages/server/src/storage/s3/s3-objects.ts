import { mapWithConcurrency } from '../../platform/concurrency/map-with-concurrency.ts';
import { bodyOfText } from './s3-bodies.ts';
import { elementOf, elementsOf, encodePath, type S3Answer, type S3Body, type S3Client } from './s3-client.ts';
import { objectStorageFailure } from './s3-problems.ts';

/** An object with its time. */
export interface ListedObject {
  /** The last part of the key. */
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** The operations on objects of one place. Keys are below its prefix. */
export interface S3Objects {
  put(key: string, body: S3Body): Promise<void>;
  /** Sends a large body in parts. The object appears when all of them have arrived. */
  putParts(key: string, bytes: number, bodyOf: (start: number, bytes: number) => Promise<S3Body>): Promise<void>;
  /** @returns undefined when there is no object */
  get(key: string, headers?: Readonly<Record<string, string>>): Promise<S3Answer | undefined>;
  /** Reads a small object. */
  read(key: string): Promise<string | undefined>;
  size(key: string): Promise<number | undefined>;
  /** Resolves also when there is no object. */
  remove(key: string): Promise<void>;
  /** Copies an object within the place. @returns false when there is none */
  copy(from: string, to: string): Promise<boolean>;
  list(folder: string): AsyncIterable<ListedObject>;
  /** Ends unfinished uploads in parts to the key. */
  abortUploads(key: string): Promise<void>;
}

/** A larger body is sent in parts, so that a repeated request sends few bytes again. */
export const mostBytesOfPut = 16 * 2 ** 20;
const partBytes = 8 * 2 ** 20;
/** While one part is sent, the next one is hashed. */
const partsInFlight = 2;
const absent = [404];

export function createS3Objects(client: S3Client): S3Objects {
  const { bucket, prefix } = client.place;
  const inPrefix = (key: string) => (prefix === '' ? key : `${prefix}/${key}`);
  const send = client.send;

  async function size(key: string): Promise<number | undefined> {
    const { status, headers } = await send({ method: 'HEAD', key, returns: absent });
    return status === 404 ? undefined : Number(headers['content-length']);
  }

  async function abort(key: string, uploadId: string): Promise<void> {
    await send({ method: 'DELETE', key, query: { uploadId }, returns: absent });
  }

  async function complete(key: string, uploadId: string, etags: readonly string[]): Promise<void> {
    const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
    const body = bodyOfText(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    // 404: an earlier attempt has succeeded, and its answer was lost.
    await send({ method: 'POST', key, query: { uploadId }, body, mayFailLate: true, returns: absent });
  }

  return {
    size,
    async put(key, body) {
      await send({ method: 'PUT', key, body, mayFailLate: true });
    },
    async putParts(key, bytes, bodyOf) {
      const begun = await send({ method: 'POST', key, query: { uploads: '' }, mayFailLate: true });
      const uploadId = elementOf(begun.text, 'UploadId') ?? '';
      try {
        const parts = Array.from({ length: Math.ceil(bytes / partBytes) }, (_, index) => index);
        const etags = await mapWithConcurrency(parts, partsInFlight, async (index) => {
          const start = index * partBytes;
          const query = { partNumber: String(index + 1), uploadId };
          const body = await bodyOf(start, Math.min(partBytes, bytes - start));
          const { headers } = await send({ method: 'PUT', key, query, body, mayFailLate: true });
          return String(headers.etag);
        });
        await complete(key, uploadId, etags);
        if ((await size(key)) !== bytes) throw objectStorageFailure(new Error('The uploaded object is not complete.'));
      } catch (error) {
        // The sweep of unfinished uploads repeats this.
        await abort(key, uploadId).catch(() => undefined);
        throw error;
      }
    },
    async get(key, headers = {}) {
      const answer = await send({ method: 'GET', key, headers, returns: absent });
      return answer.status === 404 ? undefined : answer;
    },
    async read(key) {
      const { status, text } = await send({ method: 'GET', key, returns: absent, mayFailLate: true });
      return status === 404 ? undefined : text;
    },
    async remove(key) {
      await send({ method: 'DELETE', key, returns: absent });
    },
    async copy(from, to) {
      const headers = { 'x-amz-copy-source': encodePath(`/${bucket}/${inPrefix(from)}`) };
      const { status } = await send({ method: 'PUT', key: to, headers, mayFailLate: true, returns: absent });
      return status !== 404;
    },
    async *list(folder) {
      for (let token: string | undefined = ''; token !== undefined; ) {
        const query: Record<string, string> = { 'list-type': '2', prefix: `${inPrefix(folder)}/` };
        if (token !== '') query['continuation-token'] = token;
        const { text } = await send({ method: 'GET', key: '', query, mayFailLate: true });
        for (const item of elementsOf(text, 'Contents')) {
          const key = elementOf(item, 'Key') ?? '';
          const modifiedAt = Date.parse(elementOf(item, 'LastModified') ?? '');
          yield { name: key.slice(key.lastIndexOf('/') + 1), bytes: Number(elementOf(item, 'Size')), modifiedAt };
        }
        token = elementOf(text, 'NextContinuationToken');
      }
    },
    async abortUploads(key) {
      const wanted = inPrefix(key);
      const { text } = await send({
        method: 'GET',
        key: '',
        query: { uploads: '', prefix: wanted },
        mayFailLate: true,
      });
      for (const upload of elementsOf(text, 'Upload')) {
        if (elementOf(upload, 'Key') === wanted) await abort(key, elementOf(upload, 'UploadId') ?? '');
      }
    },
  };
}
