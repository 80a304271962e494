import type { ExtractionReport } from '../extraction.ts';
import { createDecoder } from './decoders.ts';
import { type FoundEncoding, findEncoding } from './find-encoding.ts';

export interface DecodedText {
  /** Without a byte order mark; line ends are `\n`. */
  readonly text: string;
  readonly facts: EncodingFacts;
  readonly warnings: readonly string[];
}

export type EncodingFacts = Pick<ExtractionReport, 'encoding' | 'encoding_confidence' | 'replaced'>;

/**
 * Decodes a text. Damaged sequences become U+FFFD and are counted.
 * @throws ExtractionError `undecodable` when no encoding fits, `file_empty` when there are no bytes.
 */
export function decodeText(bytes: Uint8Array, declared: readonly (string | undefined)[] = []): DecodedText {
  const found = findEncoding(bytes, declared);
  const text = createDecoder(found.encoding)?.decode(bytes.subarray(found.markBytes), { stream: false }) ?? '';
  return { text: text.replace(/\r\n?/g, '\n'), facts: encodingFacts(found), warnings: found.warnings };
}

export function encodingFacts({ encoding, confidence, replaced }: FoundEncoding): EncodingFacts {
  return { encoding, encoding_confidence: confidence, ...(replaced === 0 ? {} : { replaced }) };
}
