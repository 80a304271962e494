import { formatOfExtension, formatOfMediaType } from '@quartermaster/contract/formats';
import type { Address, Attachment, Email } from 'postal-mime';
import { fileDamaged } from '../../extraction-error.ts';
import { decodeHeader, type MailDecoding, parseTexts } from './mail-decoder.ts';

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
