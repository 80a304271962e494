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

export interface S3Part {
  readonly uploadId: string;
  /** Starts with 1. */
  readonly number: number;
  readonly body: S3Body;
  readonly signal: AbortSignal;
}

/** The operations on objects of one place. Keys are below its prefix. */
export interface S3Objects {
  put(key: string, body: S3Body): Promise<void>;
  /** Begins an upload in parts. @returns its id */
  beginParts(key: string, signal: AbortSignal): Promise<string>;
  /** @returns what `completeParts` needs of each part */
  putPart(key: string, part: S3Part): Promise<string>;
  /** Joins the parts. The object appears. */
  completeParts(key: string, upload: { uploadId: string; etags: readonly string[]; bytes: number }): Promise<void>;
  abortParts(key: string, uploadId: string): Promise<void>;
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
  /** Aborts unfinished uploads in parts to the key, or to all keys below a key that ends with a slash. With `before`, only those that began earlier. */
  abortUploads(key: string, before?: number): Promise<void>;
}

/** A larger body is sent in parts, so that a repeated request sends few bytes again. */
export const mostBytesOfPut = 16 * 2 ** 20;
const absent = [404];

export function createS3Objects(client: S3Client): S3Objects {
  const { bucket, prefix } = client.place;
  const inPrefix = (key: string) => (prefix === '' ? key : `${prefix}/${key}`);
  const send = client.send;

  async function size(key: string): Promise<number | undefined> {
    const { status, headers } = await send({ method: 'HEAD', key, returns: absent });
    return status === 404 ? undefined : Number(headers['content-length']);
  }

  async function abortParts(key: string, uploadId: string): Promise<void> {
    await send({ method: 'DELETE', key, query: { uploadId }, returns: absent });
  }

  return {
    size,
    async put(key, body) {
      await send({ method: 'PUT', key, body, mayFailLate: true });
    },
    async beginParts(key, signal) {
      const { text } = await send({ method: 'POST', key, query: { uploads: '' }, signal, mayFailLate: true });
      return elementOf(text, 'UploadId') ?? '';
    },
    async putPart(key, { uploadId, number, body, signal }) {
      const query = { partNumber: String(number), uploadId };
      const { headers } = await send({ method: 'PUT', key, query, body, signal, mayFailLate: true });
      return String(headers.etag);
    },
    async completeParts(key, { uploadId, etags, bytes }) {
      const parts = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
      const body = bodyOfText(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
      // 404: an earlier attempt has succeeded, and its answer was lost.
      await send({ method: 'POST', key, query: { uploadId }, body, mayFailLate: true, returns: absent });
      if ((await size(key)) !== bytes) throw objectStorageFailure(new Error('The uploaded object is not complete.'));
    },
    abortParts,
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
    async abortUploads(key, before) {
      const wanted = inPrefix(key);
      const { text } = await send({
        method: 'GET',
        key: '',
        query: { uploads: '', prefix: wanted },
        mayFailLate: true,
      });
      for (const upload of elementsOf(text, 'Upload')) {
        const found = elementOf(upload, 'Key') ?? '';
        if (found !== wanted && !(key.endsWith('/') && found.startsWith(wanted))) continue;
        if (before !== undefined && !(Date.parse(elementOf(upload, 'Initiated') ?? '') < before)) continue;
        await abortParts(key + found.slice(wanted.length), elementOf(upload, 'UploadId') ?? '');
      }
    },
  };
}
