/**
 * A source of an upload. Paths and `file:` URLs need Node.js. A string is a path, never the content. Streams are read once, so their upload is not
 * retried.
 */
export type UploadSource =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>
  | Response;

/** Content that can be read for each attempt, or only once. */
export interface OpenSource {
  readonly name: string | undefined;
  /** Bytes; null for a stream. */
  readonly size: number | null;
  /** Reads the content from its beginning. A source without a size is read once. */
  read(): AsyncIterable<Uint8Array | string>;
  /** The content, where it is a Blob. */
  readonly blob?: Blob;
}

const accepted = 'a path, a file: URL, a Blob, a File, an ArrayBuffer, a Uint8Array, a stream or a Response';

/** @throws TypeError for another value, and for a stream that was read before */
export async function openSource(source: UploadSource): Promise<OpenSource> {
  if (typeof source === 'string' || source instanceof URL) return openPath(source);
  if (source instanceof Blob) return openBlob(source, nameOf(source));
  if (source instanceof ArrayBuffer) return openBlob(new Blob([source]));
  // A view of a shared buffer is not a part of a Blob. The copy has a buffer of its own.
  if (source instanceof Uint8Array) return openBlob(new Blob([source.slice()]));
  if (source instanceof Response) return openResponse(source);
  if (source instanceof ReadableStream) {
    if (source.locked) throw spent();
    return openChunks(readStream(source), undefined);
  }
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) {
    return openChunks(source[Symbol.asyncIterator](), pathOf(source));
  }
  throw new TypeError(`The content of an upload must be ${accepted}.`);
}

/** The only place that needs Node.js. A bundler for browsers skips the import, because its failure is handled. */
async function openPath(source: string | URL): Promise<OpenSource> {
  if (source instanceof URL && source.protocol !== 'file:') {
    throw new TypeError('Only file: URLs are read. Pass `await fetch(url)` to upload what another server sends.');
  }
  const { createReadStream, promises } = await import('node:fs').catch(() => {
    throw new TypeError('Only Node.js opens paths. Pass a File or a Blob.');
  });
  const stats = await promises.stat(source);
  if (!stats.isFile()) throw new TypeError('The path to upload must be a file.');
  const { size } = stats;
  async function* read() {
    // Opened here, so that an attempt that reads nothing leaves nothing open.
    if (size > 0) yield* createReadStream(source, { end: size - 1 });
  }
  return { name: baseName(source instanceof URL ? decodeURIComponent(source.pathname) : source), size, read };
}

function openBlob(blob: Blob, name?: string): OpenSource {
  return { name, size: blob.size, read: () => readStream(blob.stream()), blob };
}

function openResponse(response: Response): Promise<OpenSource> {
  if (!response.ok) throw new TypeError(`The response to upload has the status ${response.status}.`);
  if (response.bodyUsed || response.body === null) throw spent();
  const { pathname } = URL.canParse(response.url) ? new URL(response.url) : { pathname: '' };
  return openChunks(readStream(response.body), baseName(decodeURIComponent(pathname)));
}

/** Reads the first chunk, because a stream that was read before looks like an empty file. */
async function openChunks(chunks: AsyncIterator<Uint8Array | string>, name: string | undefined): Promise<OpenSource> {
  const first = await chunks.next();
  if (first.done === true) throw spent();
  return { name, size: null, read: () => prepend(first.value, chunks) };
}

async function* prepend<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel();
  }
}

function spent(): TypeError {
  return new TypeError('The stream to upload has no bytes left. It may have been read before; open it again.');
}

function nameOf(blob: Blob): string | undefined {
  return 'name' in blob && typeof blob.name === 'string' ? baseName(blob.name) : undefined;
}

/** Streams of Node.js that read a file know its path. */
function pathOf(stream: object): string | undefined {
  return 'path' in stream && typeof stream.path === 'string' ? baseName(stream.path) : undefined;
}

function baseName(path: string): string | undefined {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return name === '' ? undefined : name;
}
