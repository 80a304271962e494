import { isUtf8 } from 'node:buffer';
import { formatOfExtension, formatOfMediaType } from '@quartermaster/contract/formats';
import PostalMime, { type Address, type Attachment, type Email, type PostalMimeOptions } from 'postal-mime';
import { decodeText, type EncodingFacts } from '../../encoding/decode-text.ts';
import { createDecoder, encodingOfLabel } from '../../encoding/decoders.ts';
import { ExtractionError, fileDamaged } from '../../extraction-error.ts';
import { declaredCharset } from '../html/read-html.ts';

/** Bounds of one mail. The size of all headers is bounded because the parser joins them. */
const limits = { maxNestingDepth: 100, maxHeadersSize: 2 ** 20 };

/** An empty line ends the header, which is at most this long. */
const emptyLine = /\r?\n\r?\n/;

/**
 * Parses a mail. A mail in a mail is an attachment.
 * @throws ExtractionError when it is nested too deep or its headers are too long
 */
export async function parseMail(bytes: Uint8Array): Promise<{ mail: Email; decoding: MailDecoding }> {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, limits.maxHeadersSize));
  const readable = decodeHeader(bytes, emptyLine.exec(start.toString('latin1'))?.index ?? start.length);
  try {
    return await parseTexts(readable, { ...limits, forceRfc822Attachments: true, attachmentEncoding: 'arraybuffer' });
  } catch (cause) {
    throw fileDamaged('EML', 'it is nested too deep, or its headers are too long', cause);
  }
}

/** Returns the lines of the header that readers of mail show. */
export function headerLines({ from, to, cc, date }: Email): string[] {
  const lines = [
    ['From', from === undefined ? '' : nameOf(from)],
    ['To', (to ?? []).map(nameOf).join(', ')],
    ['Cc', (cc ?? []).map(nameOf).join(', ')],
    ['Date', date ?? ''],
  ] as const;
  return lines.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}`);
}

function nameOf({ name, address, group }: Address): string {
  if (group !== undefined) return `${name}: ${group.map(nameOf).join(', ')}`;
  return name === '' ? (address ?? '') : `${name} <${address ?? ''}>`;
}

/** Texts that attachments often are and that no purpose of files accepts. */
const furtherTexts = new Set(['ics', 'log', 'text/calendar']);

/** Returns the format of the reader for an attachment; undefined when there is none. */
export function formatOf({ filename, mimeType }: Attachment): string | undefined {
  const type = mimeType.toLowerCase();
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(filename ?? '')?.[1]?.toLowerCase() ?? '';
  const isText = furtherTexts.has(extension) || furtherTexts.has(type);
  return formatOfExtension(extension) ?? (isText ? 'txt' : formatOfMediaType(type));
}

const longestLabel = 200;

/** Returns the name of an attachment as a label. A name never becomes a path. */
export function labelOf({ filename, mimeType }: Attachment, number: number): string {
  const name = (filename ?? '').split(/[/\\]/).at(-1)?.trim() ?? '';
  return (name === '' ? `attachment ${number} (${mimeType})` : name).slice(0, longestLabel).toWellFormed();
}

/** How the texts of a mail were decoded. */
interface MailDecoding {
  /** Those of the first text whose encoding is not evident. */
  readonly facts: EncodingFacts;
  readonly warnings: readonly string[];
}

/** A part as postal-mime holds it between parsing and decoding. Its types do not declare this, so its version is exact. */
interface MailPart {
  /** The bytes after base64 or quoted-printable. */
  content: ArrayBuffer | null;
  readonly contentType: { readonly parsed: { readonly value: string; readonly params: Record<string, string> } };
  readonly contentDisposition: { readonly parsed: { readonly value: string } };
}

/**
 * Parses a mail. Its texts are decoded here, because the decoder of the platform neither finds wrong declarations nor
 * reports damage: each text becomes UTF-8 before the parser decodes it.
 */
async function parseTexts(
  bytes: Uint8Array,
  options: PostalMimeOptions,
): Promise<{ mail: Email; decoding: MailDecoding }> {
  const parser = new PostalMime(options);
  const decoding: Decoding = { facts: {}, warnings: new Set() };
  const parts = parser as unknown as { collectNode(part: MailPart, ...place: unknown[]): Promise<void> };
  const collect = parts.collectNode.bind(parser);
  parts.collectNode = (part, ...place) => {
    convertText(part, decoding);
    return collect(part, ...place);
  };
  const mail = await parser.parse(bytes);
  return { mail, decoding: { facts: decoding.facts, warnings: [...decoding.warnings] } };
}

interface Decoding {
  facts: EncodingFacts;
  readonly warnings: Set<string>;
}

/** Converts a text that the parser decodes. A text that is attached keeps its bytes for its own reader. */
function convertText(part: MailPart, decoding: Decoding): void {
  const { value, params } = part.contentType.parsed;
  const isBody = /^text\/(?:plain|html)$/.test(value) && part.contentDisposition.parsed.value !== 'attachment';
  if (part.content === null || !(isBody || /^(?:text\/calendar|application\/ics)$/.test(value))) return;
  // A charset that is unknown counts as the commonest one.
  const label = encodingOfLabel(params.charset || 'utf-8') ?? 'windows-1252';
  const text = decodePart(new Uint8Array(part.content), label, decoding);
  if (text === undefined) return;
  part.content = new TextEncoder().encode(text).buffer;
  params.charset = 'utf-8';
}

/** Encodings with characters of several bytes: text of another encoding is rarely valid in them. */
const multiByte = /^(?:utf-|gb|big5|shift_jis|euc-|iso-2022)/;
/** Shorter texts say too little about their encoding. */
const leastGuessed = 64;

/** Returns undefined for what the decoder of the platform reads as well. */
function decodePart(bytes: Uint8Array, label: string, decoding: Decoding): string | undefined {
  if (bytes.every((byte) => byte < 0x80 && byte !== escapeByte)) return undefined;
  const encoding = encodingOfLabel(label);
  if (encoding !== undefined && multiByte.test(encoding)) {
    const text = createDecoder(encoding)?.decode(bytes, { stream: false }) ?? '\ufffd';
    if (!text.includes('\ufffd')) return text.replace(/^\ufeff/, '');
  } else if (bytes.length < leastGuessed && !isUtf8(bytes)) return undefined;
  try {
    const { text, facts, warnings } = decodeText(bytes, [label, declaredCharset(bytes)]);
    for (const warning of warnings) decoding.warnings.add(warning);
    if (decoding.facts.encoding === undefined) decoding.facts = facts;
    return text;
  } catch (cause) {
    if (!(cause instanceof ExtractionError)) throw cause;
    decoding.warnings.add(unknownEncoding);
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
function decodeHeader(bytes: Uint8Array, headerBytes: number): Uint8Array {
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
