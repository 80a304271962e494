import { isUtf8 } from 'node:buffer';
import { decodeText, type EncodingFacts } from '../../encoding/decode-text.ts';
import { createDecoder, encodingOfLabel } from '../../encoding/decoders.ts';
import { ExtractionError } from '../../extraction-error.ts';
import { declaredCharset } from '../html/read-html.ts';

/** How the texts of a mail were decoded. */
export interface MailDecoding {
  /** Those of the first text whose encoding is not evident. */
  readonly facts: EncodingFacts;
  readonly warnings: readonly string[];
}

/** The decoding of the mail that is being parsed. The parser keeps its decoders, so they belong to no mail. */
let current: { facts: EncodingFacts; readonly warnings: Set<string> } | undefined;
let isDecoding = false;
let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs a parser whose decoders are ours, one at a time: the parser takes the decoder of the platform, which neither finds wrong
 * declarations nor reports damage.
 */
export function withMailDecoder<Parsed>(
  parse: () => Promise<Parsed>,
): Promise<{ parsed: Parsed; decoding: MailDecoding }> {
  const run = async () => {
    const platformDecoder = globalThis.TextDecoder;
    const decoding = { facts: {}, warnings: new Set<string>() };
    current = decoding;
    globalThis.TextDecoder = MailDecoder;
    try {
      return { parsed: await parse(), decoding: { facts: decoding.facts, warnings: [...decoding.warnings] } };
    } finally {
      globalThis.TextDecoder = platformDecoder;
      current = undefined;
    }
  };
  const result = turn.then(run);
  turn = result.catch(() => {});
  return result;
}

type Input = Parameters<InstanceType<typeof TextDecoder>['decode']>[0];

class MailDecoder extends TextDecoder {
  readonly #label: string | undefined;
  constructor(label?: string, options?: ConstructorParameters<typeof TextDecoder>[1]) {
    super(label, options);
    this.#label = label;
  }
  override decode(input?: Input, options?: Parameters<InstanceType<typeof TextDecoder>['decode']>[1]): string {
    const platform = () => super.decode(input, options);
    // Without a label, it reads the letters of base64.
    if (isDecoding || this.#label === undefined || input === undefined || input === null) return platform();
    const bytes = ArrayBuffer.isView(input)
      ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      : new Uint8Array(input);
    isDecoding = true;
    try {
      return decodePart(bytes, this.#label) ?? platform();
    } finally {
      isDecoding = false;
    }
  }
}

/** Encodings with characters of several bytes: text of another encoding is rarely valid in them. */
const multiByte = /^(?:utf-|gb|big5|shift_jis|euc-|iso-2022)/;
/** Words of a header are shorter. They say too little about their encoding. */
const leastGuessed = 64;

/** Returns undefined for what the decoder of the platform reads as well. */
function decodePart(bytes: Uint8Array, label: string): string | undefined {
  if (bytes.every((byte) => byte < 0x80 && byte !== escapeByte)) return undefined;
  const encoding = encodingOfLabel(label);
  if (encoding !== undefined && multiByte.test(encoding)) {
    const text = createDecoder(encoding)?.decode(bytes, { stream: false }) ?? '\ufffd';
    if (!text.includes('\ufffd')) return text.replace(/^\ufeff/, '');
  } else if (bytes.length < leastGuessed && !isUtf8(bytes)) return undefined;
  try {
    const { text, facts, warnings } = decodeText(bytes, [label, declaredCharset(bytes)]);
    for (const warning of warnings) current?.warnings.add(warning);
    if (current !== undefined && current.facts.encoding === undefined) current.facts = facts;
    return text;
  } catch (cause) {
    if (!(cause instanceof ExtractionError)) throw cause;
    current?.warnings.add(unknownEncoding);
    return createDecoder('windows-1252')?.decode(bytes, { stream: false });
  }
}

const escapeByte = 0x1b;
const unknownEncoding =
  'encoding_uncertain: The encoding of a text of the mail is unknown. It was read as windows-1252, and letters may be wrong.';

/**
 * Returns a mail whose header is UTF-8. Programs may write header fields in another encoding without saying so.
 * @param headerBytes the header, up to the first empty line
 */
export function decodeHeader(bytes: Uint8Array, headerBytes: number): Uint8Array {
  const header = bytes.subarray(0, headerBytes);
  if (isUtf8(header)) return bytes;
  const lines = Buffer.from(header)
    .toString('latin1')
    .replace(/\r?\n[ \t]/g, ' ')
    .split('\n');
  const type = lines.find((line) => /^content-type[ \t]?:/i.test(line)) ?? '';
  const declared = /charset="?([\w.:-]{1,40})/i.exec(type)?.[1];
  try {
    return Buffer.concat([Buffer.from(decodeText(header, [declared]).text), bytes.subarray(headerBytes)]);
  } catch (cause) {
    if (cause instanceof ExtractionError) return bytes;
    throw cause;
  }
}
