import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The number of bytes of JSON text, or of milliseconds, after which the event loop runs other work. */
const sliceBytes = 128 * 1024;
const sliceMs = 8;
const chunkBytes = 512 * 1024;
/** Larger answers are cached compressed and decompressed in the background while they are sent. */
const maxPlainBytes = 4 * 1024 * 1024;
/** The limit of all cached answers together. The least recently used are removed first. */
const maxCachedBytes = 32 * 1024 * 1024;

/** A JSON text with its strong ETag. Equal tags mean equal bytes. */
export interface CachedJson {
  readonly etag: string;
  /** In bytes. */
  readonly length: number;
  /** The whole text, or a decompressed stream of a large one. */
  readonly body: Buffer | (() => AsyncIterable<Buffer>);
}

/** Builds each answer once, in slices, and caches its bytes. */
export interface JsonCache {
  /** @param pieces of the JSON text, in order; called only when the answer is not cached */
  get(name: string, pieces: () => Iterable<string>): Promise<CachedJson>;
}

export interface JsonCacheOptions {
  /** Called before the event loop runs other work, with the bytes built since the last call. */
  readonly onSlice?: (bytes: number) => void;
  readonly cacheBytes?: number;
  readonly plainBytes?: number;
}

export function createJsonCache(options: JsonCacheOptions = {}): JsonCache {
  const { cacheBytes = maxCachedBytes } = options;
  const answers = new Map<string, Built>();
  const builds = new Map<string, Promise<CachedJson>>();
  let cachedBytes = 0;

  function store(name: string, built: Built): void {
    answers.set(name, built);
    cachedBytes += built.bytes;
    for (const [oldest, { bytes }] of answers) {
      if (cachedBytes <= cacheBytes || oldest === name) break;
      answers.delete(oldest);
      cachedBytes -= bytes;
    }
  }

  async function build(name: string, pieces: Iterable<string>): Promise<CachedJson> {
    try {
      const built = await buildInSlices(pieces, options);
      store(name, built);
      return built.answer;
    } finally {
      builds.delete(name);
    }
  }

  return {
    async get(name, pieces) {
      const found = answers.get(name);
      if (found === undefined) {
        const building = builds.get(name) ?? build(name, pieces());
        builds.set(name, building);
        return await building;
      }
      answers.delete(name);
      answers.set(name, found);
      return found.answer;
    },
  };
}

interface Built {
  readonly answer: CachedJson;
  /** The bytes that the cache entry takes. */
  readonly bytes: number;
}

async function buildInSlices(
  pieces: Iterable<string>,
  { onSlice, plainBytes = maxPlainBytes }: JsonCacheOptions,
): Promise<Built> {
  const digest = createHash('sha256');
  const plain: Buffer[] = [];
  const packed: Packed[] = [];
  let chunk: Buffer[] = [];
  let [length, inSlice, inChunk] = [0, 0, 0];
  let began = performance.now();
  const endChunk = async () => {
    plain.push(Buffer.concat(chunk));
    [chunk, inChunk] = [[], 0];
    if (length <= plainBytes) return;
    for (const bytes of plain.splice(0)) packed.push({ bytes: await compress(bytes), length: bytes.length });
  };
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    digest.update(bytes);
    chunk.push(bytes);
    length += bytes.length;
    inSlice += bytes.length;
    inChunk += bytes.length;
    if (inChunk >= chunkBytes) await endChunk();
    if (inSlice >= sliceBytes || performance.now() - began >= sliceMs) {
      onSlice?.(inSlice);
      inSlice = 0;
      await turn();
      began = performance.now();
    }
  }
  await endChunk();
  const etag = `"${digest.digest('base64url')}"`;
  if (packed.length === 0) return { answer: { etag, length, body: Buffer.concat(plain) }, bytes: length };
  const bytes = packed.reduce((sum, part) => sum + part.bytes.length, 0);
  return { answer: { etag, length, body: () => decompressed(packed) }, bytes };
}

interface Packed {
  readonly bytes: Buffer;
  readonly length: number;
}

async function* decompressed(packed: readonly Packed[]): AsyncGenerator<Buffer> {
  for (const { bytes, length } of packed) yield await decompress(bytes, { maxOutputLength: length });
}
