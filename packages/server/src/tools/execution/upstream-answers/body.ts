import { parseExactJson } from '../../../platform/json/exact-json.ts';
import { findExceededBound } from '../../../platform/validation/json-bounds.ts';
import { decoderFor, strictDecoderFor } from '../../egress/charset.ts';
import { parseXml } from './xml-tree.ts';

export type BodyFormat = 'json' | 'xml' | 'text' | 'base64';
export type ReadBody = { readonly body: unknown } | { readonly wrong: string };

/**
 * The maximum nesting of a JSON answer. A deeper answer is not parsed, because 1 MiB of nested arrays takes 60 MiB as
 * values.
 */
export const maxAnswerDepth = 200;

/** Parses an upstream's body. An empty body becomes null, or the empty string for the formats text and base64. */
export function readBody(bytes: Buffer, contentType: string | undefined, format: BodyFormat): ReadBody {
  if (format === 'base64') return { body: bytes.toString('base64') };
  const text = decodeText(bytes, contentType);
  if (format === 'text') return { body: text };
  if (text.trim() === '') return { body: null };
  if (format === 'xml') {
    const parsed = parseXml(text);
    return 'wrong' in parsed
      ? { wrong: `the answer is not XML that can be read: ${parsed.wrong}` }
      : { body: parsed.root };
  }
  if (findExceededBound(text, { depth: maxAnswerDepth, members: Number.POSITIVE_INFINITY }) !== null) {
    return { wrong: `the answer is nested deeper than ${maxAnswerDepth} levels` };
  }
  try {
    return { body: parseExactJson(text) };
  } catch {
    return { wrong: 'the answer is not JSON' };
  }
}

/**
 * Decodes bytes in the charset of the content type, by default UTF-8. Invalid bytes become U+FFFD; a byte order mark is
 * removed.
 */
export function decodeText(bytes: Buffer, contentType: string | undefined): string {
  return decoderFor(contentType).decode(bytes);
}

/** Whether bytes are valid text in the charset of the content type and hold no zero byte. */
export function isText(bytes: Buffer, contentType: string | undefined): boolean {
  try {
    return !strictDecoderFor(contentType).decode(bytes).includes('\0');
  } catch {
    return false;
  }
}
