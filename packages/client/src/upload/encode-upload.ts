import type { Payload } from '../transport/transport.ts';
import type { OpenSource } from './open-source.ts';
import { sendWithProgress } from './send-with-progress.ts';

/** The bytes of an upload that have been handed to the network. */
export interface UploadProgress {
  readonly sentBytes: number;
  /** null for a stream. */
  readonly totalBytes: number | null;
}

export interface UploadForm {
  readonly purpose: string;
  readonly fileName: string;
  readonly source: OpenSource;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Whether `XMLHttpRequest` may send the upload. */
  readonly mayUseXhr: boolean;
}

/** Returns a function that creates the multipart/form-data body for each attempt. */
export async function encodeUpload(form: UploadForm): Promise<() => Payload> {
  if ('XMLHttpRequest' in globalThis) return await encodeForBrowser(form);
  const { source, onProgress } = form;
  const { size } = source;
  const { head, tail, headers } = frame(form);
  const framing = head.length + tail.length;
  const length: Record<string, string> = size === null ? {} : { 'Content-Length': String(framing + size) };
  // A Blob as the body would be held in memory as a whole.
  return () => ({
    headers: { ...headers, ...length },
    body: toStream(concatenate(head, source.read(), tail), framing, { totalBytes: size, onProgress }),
  });
}

/** Browsers cannot stream a request to a server without HTTP/2. They read the parts of a Blob while they send it. */
async function encodeForBrowser(form: UploadForm): Promise<() => Payload> {
  const { source, onProgress, mayUseXhr } = form;
  const { head, tail, headers } = frame(form);
  const content = source.blob ?? (await collect(source.read()));
  const body = new Blob([head, content, tail]);
  if (onProgress === undefined || !mayUseXhr) return () => ({ headers, body });
  const totalBytes = content.size;
  const fetch = sendWithProgress((sent) => onProgress({ sentBytes: Math.min(sent, totalBytes), totalBytes }));
  return () => ({ headers, body, fetch });
}

/** Writes what precedes and follows the content. Names are escaped like those of a `FormData`. */
function frame({ purpose, fileName }: Pick<UploadForm, 'purpose' | 'fileName'>) {
  const random = crypto.getRandomValues(new Uint32Array(4));
  const boundary = `quartermaster-${Array.from(random, (word) => word.toString(36)).join('')}`;
  const escaped = fileName.replace(/[\r\n"]/g, (character) => encodeURIComponent(character));
  const encoder = new TextEncoder();
  const head = [
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n`,
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${escaped}"\r\n`,
    'Content-Type: application/octet-stream\r\n\r\n',
  ].join('');
  return {
    head: encoder.encode(head),
    tail: encoder.encode(`\r\n--${boundary}--\r\n`),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}

async function* concatenate(
  head: Uint8Array,
  chunks: AsyncIterable<Uint8Array | string>,
  tail: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield head;
  for await (const chunk of chunks) yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
  yield tail;
}

async function collect(chunks: AsyncIterable<Uint8Array | string>): Promise<Blob> {
  const none = new Uint8Array();
  return await new Response(toStream(concatenate(none, chunks, none), 0, { totalBytes: null })).blob();
}

interface Counting {
  readonly totalBytes: number | null;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
}

/**
 * Returns a stream that reads the next chunk when the network has taken the one before it.
 * @param framing bytes that are not part of the file
 */
function toStream(
  chunks: AsyncGenerator<Uint8Array>,
  framing: number,
  { totalBytes, onProgress }: Counting,
): ReadableStream<Uint8Array> {
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next();
        if (done === true) {
          controller.close();
          return;
        }
        bytes += value.byteLength;
        controller.enqueue(value);
        const sentBytes = Math.max(0, bytes - framing);
        onProgress?.({ sentBytes: totalBytes === null ? sentBytes : Math.min(totalBytes, sentBytes), totalBytes });
      },
      cancel: async () => {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
