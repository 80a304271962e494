import { safeMediaType } from '../../artifacts/media-types.ts';
import type { OutputPart } from './output-part.ts';
import { hasSignature, mayBeInArchive, mediaTypeOf, signatureBytes } from './signatures.ts';

/** Shorter texts are not read as base64: a text could begin by chance as the base64 of a format does. */
const shortestBase64 = 64;
const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[\w.+%-]+)*;base64,/;
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
  const [prefix, named = ''] = dataUrl.exec(text.slice(0, 2048)) ?? [];
  const { bytes, encoding } = (prefix === undefined ? undefined : readBase64(text.slice(prefix.length))) ?? {};
  if (prefix === undefined || bytes === undefined || encoding === undefined) return undefined;
  const [, fileName = ''] = /;name=([\w.+%-]+)/.exec(prefix) ?? [];
  const name = fileNameOf(fileName);
  return { mediaType: typeOf(bytes, named), bytes, form: encoding, prefix, ...(name === '' ? {} : { name }) };
}

/** A third party wrote the name. It becomes one segment of a path without control characters; empty for none. */
function fileNameOf(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
      .replaceAll(/[\p{C}/\\]+/gu, '_')
      .slice(0, 100);
  } catch {
    return '';
  }
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

/** Bytes that a text holds, and the alphabet it uses (RFC 4648, sections 4 and 5). */
interface Base64Content {
  readonly bytes: Buffer;
  readonly encoding: 'base64' | 'base64url';
}

const alphabets = [
  ['base64', /^[A-Za-z0-9+/]+={0,2}$/],
  ['base64url', /^[A-Za-z0-9_-]+={0,2}$/],
] as const;

/** Reads base64 of either alphabet, with or without padding, and with lines of equal length. Undefined for any other text. */
export function readBase64(text: string): Base64Content | undefined {
  const joined = joinLines(text);
  const [encoding] = alphabets.find(([, shape]) => joined !== undefined && shape.test(joined)) ?? [];
  if (joined === undefined || encoding === undefined) return undefined;
  const rest = joined.length % 4;
  if (joined.endsWith('=') ? rest !== 0 : rest === 1) return undefined;
  return { bytes: Buffer.from(joined, 'base64'), encoding };
}

/** The first bytes of a text that may be base64, as many as its first characters hold. Bytes of any text; check it later. */
export function firstBytes(text: string, bytes: number): Buffer {
  return Buffer.from(text.slice(0, Math.ceil((bytes * 4) / 3)), 'base64');
}

const sampleCharacters = 4096;

/**
 * Returns whether a long text is probably base64: its first characters include upper-case and lower-case letters, digits and
 * symbols. A number, a hexadecimal hash or a DNA sequence has fewer kinds of characters.
 */
function looksLikeBase64(text: string): boolean {
  const sample = text.slice(0, sampleCharacters);
  return [/[A-Z]/, /[a-z]/, /[0-9]/, /[+/_-]/].every((kind) => kind.test(sample));
}

/** Joins lines of equal length; the last one may be shorter (RFC 2045, section 6.8). Undefined for other lines. */
function joinLines(text: string): string | undefined {
  if (!text.includes('\n')) return text;
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const [{ length } = '', last = ''] = [lines[0], lines.at(-1)];
  const areEqual = lines.every((line, index) => line.length === length || index === lines.length - 1);
  return areEqual && last.length <= length ? lines.join('') : undefined;
}
