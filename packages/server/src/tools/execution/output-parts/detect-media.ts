import { safeMediaType } from '../../artifacts/media-types.ts';
import type { OutputPart } from './output-part.ts';
import { firstBytes, looksLikeBase64, readBase64 } from './read-base64.ts';
import { hasSignature, mayBeInArchive, mediaTypeOf, signatureBytes } from './signatures.ts';

/** Shorter texts are not read as base64: a text could begin by chance as the base64 of a format does. */
const shortestBase64 = 64;
const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,/;
const svgStart = /^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,500}-->\s*)?(?:<!DOCTYPE svg[^>]{0,500}>\s*)?<svg[\s>]/;

type Media = Omit<OutputPart, 'path'>;

/** Returns the bytes that a text of an output stands for: a `data:` URL, base64 of a known format, or an SVG picture. */
export function readMedia(text: string): Media | undefined {
  if (text.startsWith('data:')) return readDataUrl(text);
  if (text.length < shortestBase64) return undefined;
  if (text.charCodeAt(0) <= 0x3c && svgStart.test(text.slice(0, 2048))) {
    return { mediaType: 'image/svg+xml', bytes: Buffer.from(text), form: 'text', prefix: '' };
  }
  return mediaTypeOf(firstBytes(text, signatureBytes)) === undefined ? undefined : readBytes(text);
}

/** Returns the bytes of a long text that is base64 of an unknown format, otherwise the text. */
export function readLongText(text: string): Media {
  const media = looksLikeBase64(text) ? readBytes(text) : undefined;
  return media ?? { mediaType: 'text/plain', bytes: Buffer.from(text), form: 'text', prefix: '' };
}

function readBytes(text: string): Media | undefined {
  const { bytes, encoding } = readBase64(text) ?? {};
  if (bytes === undefined || encoding === undefined) return undefined;
  return { mediaType: mediaTypeOf(bytes) ?? safeMediaType(''), bytes, form: encoding, prefix: '' };
}

/** If the format of the bytes is known, it determines the type, because the URL may name another one. */
function readDataUrl(text: string): Media | undefined {
  const [prefix, named = ''] = dataUrl.exec(text.slice(0, 512)) ?? [];
  const { bytes, encoding } = (prefix === undefined ? undefined : readBase64(text.slice(prefix.length))) ?? {};
  if (prefix === undefined || bytes === undefined || encoding === undefined) return undefined;
  return { mediaType: typeOf(bytes, named), bytes, form: encoding, prefix };
}

function typeOf(bytes: Buffer, named: string): string {
  const found = mediaTypeOf(bytes);
  const type = safeMediaType(named);
  if (found === 'application/zip' && mayBeInArchive(type)) return type;
  // Types with a signature are not taken from a name: bytes without it are something else.
  return found ?? (hasSignature(type) ? safeMediaType('') : type);
}

/**
 * The type of an answer: that of its bytes when their format is known, otherwise the one that the third party names.
 * @param bytes the first bytes; an archive is a document if the third party says so
 */
export function mediaTypeOfAnswer(bytes: Buffer, contentType: string | undefined): string {
  const [named = ''] = (contentType ?? '').toLowerCase().split(';');
  const type = named.trim();
  if (type.endsWith('+json')) return mediaTypeOf(bytes) ?? 'application/json';
  // A browser interprets HTML and scripts, but no plain text.
  if (type.startsWith('text/')) return mediaTypeOf(bytes) ?? 'text/plain';
  return typeOf(bytes, type);
}
