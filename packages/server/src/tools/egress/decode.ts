import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
  inflateRaw,
} from 'node:zlib';

/** The content encodings that requests accept. Another encoding in the answer is an error of the upstream. */
export const acceptedEncodings = 'gzip, deflate, br';

/** The decoded body, or why there is none: it exceeds the limit after decompression, or cannot be decoded. */
export type Decoded =
  | { readonly kind: 'decoded'; readonly body: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'undecodable'; readonly encoding: string };

const unpackers = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: (body: Buffer, options: { maxOutputLength: number }) =>
    // Some servers send a raw deflate stream; a zlib header has 8 in its low four bits.
    (((body[0] ?? 0) & 0x0f) === 8 ? promisify(inflate) : promisify(inflateRaw))(body, options),
};

/** More layers serve no purpose and would only cause work. */
const maxLayers = 2;

/**
 * Decodes `Content-Encoding`. Never allocates more than `maxBytes`, whatever the answer declares.
 * @param encodings the value of the header, outermost encoding last
 */
export async function decodeBody(body: Buffer, encodings: string | undefined, maxBytes: number): Promise<Decoded> {
  if (encodings === undefined || body.length === 0) return { kind: 'decoded', body };
  const layers = layersOf(encodings);
  let decoded = body;
  for (const layer of layers.reverse()) {
    if (layers.length > maxLayers || !isKnown(layer)) return { kind: 'undecodable', encoding: layer };
    try {
      decoded = await unpackers[layer](decoded, { maxOutputLength: maxBytes });
    } catch (error) {
      const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
      return tooLarge ? { kind: 'too_large' } : { kind: 'undecodable', encoding: layer };
    }
  }
  return { kind: 'decoded', body: decoded };
}

/** The streams that undo the encodings, the outermost first. null when an encoding is unknown. */
export function createDecoders(encodings: string | undefined): Transform[] | null {
  const layers = layersOf(encodings ?? '').reverse();
  if (layers.length > maxLayers || !layers.every(isKnown)) return null;
  return layers.map((layer) => {
    if (layer === 'br') return createBrotliDecompress();
    return layer === 'deflate' ? createInflate() : createGunzip();
  });
}

function layersOf(encodings: string): string[] {
  return encodings
    .toLowerCase()
    .split(',')
    .map((layer) => layer.trim())
    .filter((layer) => layer !== '' && layer !== 'identity');
}

function isKnown(layer: string): layer is keyof typeof unpackers {
  return Object.hasOwn(unpackers, layer);
}
