import { safeMediaType } from '../../artifacts/media-types.ts';
import type { OutputPart } from './output-part.ts';

/** The first bytes of formats, by media type. A format that begins with other bytes is not recognised. */
const signatures: ReadonlyArray<readonly [mediaType: string, matches: (bytes: Buffer) => boolean]> = [
  ['image/png', startsWith('\x89PNG\r\n\x1a\n')],
  ['image/jpeg', startsWith('\xff\xd8\xff')],
  ['image/gif', startsWith('GIF8')],
  ['image/webp', (bytes) => isRiff(bytes, 'WEBP')],
  ['audio/wav', (bytes) => isRiff(bytes, 'WAVE')],
  ['audio/mpeg', startsWith('ID3')],
  ['audio/ogg', startsWith('OggS')],
  ['video/mp4', (bytes) => bytes.toString('latin1', 4, 8) === 'ftyp'],
  ['video/webm', startsWith('\x1a\x45\xdf\xa3')],
  ['application/pdf', startsWith('%PDF-')],
  ['application/zip', startsWith('PK\x03\x04')],
  ['application/gzip', startsWith('\x1f\x8b\x08')],
];

/** Shorter texts are not read as base64: a text could begin by chance as the base64 of a format does. */
const shortestBase64 = 64;
const base64Text = /^[A-Za-z0-9+/]+={0,2}$/;
const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,/;
const svgStart = /^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,500}-->\s*)?(?:<!DOCTYPE svg[^>]{0,500}>\s*)?<svg[\s>]/;

/** Returns the bytes that a text of an output stands for: a `data:` URL, base64 of a known format, or an SVG picture. */
export function readMedia(text: string): Omit<OutputPart, 'path'> | undefined {
  if (text.startsWith('data:')) return readDataUrl(text);
  if (text.length < shortestBase64) return undefined;
  if (text.charCodeAt(0) <= 0x3c && svgStart.test(text.slice(0, 2048))) {
    return { mediaType: 'image/svg+xml', bytes: Buffer.from(text), form: 'text', prefix: '' };
  }
  const mediaType = mediaTypeOf(Buffer.from(text.slice(0, shortestBase64), 'base64'));
  const bytes = mediaType === undefined ? undefined : decode(text);
  return mediaType === undefined || bytes === undefined ? undefined : { mediaType, bytes, form: 'base64', prefix: '' };
}

/** If the format of the bytes is known, it determines the type, because the URL may name another one. */
function readDataUrl(text: string): Omit<OutputPart, 'path'> | undefined {
  const [prefix, named = ''] = dataUrl.exec(text.slice(0, 512)) ?? [];
  const bytes = prefix === undefined ? undefined : decode(text.slice(prefix.length));
  if (prefix === undefined || bytes === undefined) return undefined;
  return { mediaType: mediaTypeOf(bytes) ?? typeWithoutSignature(named), bytes, form: 'base64', prefix };
}

/** Types with a signature are not taken from a name: bytes without it are something else. */
function typeWithoutSignature(named: string): string {
  const type = safeMediaType(named);
  return hasSignature(type) ? safeMediaType('') : type;
}

/** The type of an answer: that of its bytes when their format is known, otherwise the one that the third party names. */
export function mediaTypeOfAnswer(bytes: Buffer, contentType: string | undefined): string {
  const [named = ''] = (contentType ?? '').toLowerCase().split(';');
  const type = named.trim();
  if (type.endsWith('+json')) return mediaTypeOf(bytes) ?? 'application/json';
  // A browser interprets HTML and scripts, but no plain text.
  return mediaTypeOf(bytes) ?? (type.startsWith('text/') ? 'text/plain' : typeWithoutSignature(type));
}

/** Whether all bytes of this type begin with a known signature. */
export function hasSignature(mediaType: string): boolean {
  return signatures.some(([known]) => known === mediaType && mediaType !== 'audio/mpeg');
}

/** Recognises a format by its first bytes. */
export function mediaTypeOf(bytes: Buffer): string | undefined {
  return signatures.find(([, matches]) => matches(bytes))?.[0];
}

/** Undefined unless the text is base64 with padding. */
function decode(text: string): Buffer | undefined {
  if (text.length === 0 || text.length % 4 !== 0 || !base64Text.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

function startsWith(signature: string): (bytes: Buffer) => boolean {
  return (bytes) => bytes.toString('latin1', 0, signature.length) === signature;
}

function isRiff(bytes: Buffer, kind: string): boolean {
  return bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === kind;
}
