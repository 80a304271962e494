import type { Attachment, Email } from 'postal-mime';
import { cut } from '../../cut-text.ts';
import type { Block, Document } from '../../document.ts';
import type { AttachmentReport } from '../../extraction.ts';
import { ExtractionError, fileEmpty, fileTypeMismatch } from '../../extraction-error.ts';
import { isPageFormat } from '../../page-protocol.ts';
import { readHtml } from '../html/read-html.ts';
import { picturesNotRead } from '../picture-text.ts';
import type { MailPlace, TextSource } from '../read-document.ts';
import { formatOf, headerLines, labelOf, parseMail } from './read-mail.ts';

/** Reads a document of another format, such as an attachment. */
type ReadDocument = (source: TextSource) => Promise<Document>;

/** Text of fewer words only says that the mail is in HTML. */
const fewWords = 20;

/**
 * Reads a mail: its subject as a heading, its header, its text, and below the name of each attachment what the attachment
 * says. An attachment that cannot be read is named in the report with the reason, and the record is then `partial`.
 */
export async function readEml(source: TextSource, read: ReadDocument): Promise<Document> {
  if (source.bytes.length === 0) throw fileEmpty();
  const { mail, decoding } = await parseMail(source.bytes);
  if (mail.headers.length === 0) throw fileTypeMismatch('EML', 'no mail');
  const subject = (mail.subject ?? '').replace(/\s+/g, ' ').trim();
  const body = bodyOf(mail);
  const lines = headerLines(mail);
  const blocks: Block[] = [
    ...(subject === '' ? [] : [{ kind: 'heading', level: 1, text: subject } as const]),
    ...(lines.length === 0 ? [] : [{ kind: 'paragraph', text: lines.join('\n') } as const]),
    ...body.blocks,
  ];
  const { reports, leftOut } = await readAttachments(mail, { source, read, blocks });
  return {
    blocks,
    facts: {
      ...(subject === '' ? {} : { title: cut(subject, 500) }),
      ...decoding.facts,
      ...(body.dropped === undefined ? {} : { dropped: body.dropped }),
      ...(reports.length === 0 ? {} : { attachments: reports }),
    },
    warnings: [
      ...decoding.warnings,
      ...body.warnings,
      ...picturesNotRead(inlinePictures(mail), 'Pictures within the text of a mail are not read.'),
      ...describeUnread(reports),
      ...describeLeftOut(leftOut),
    ],
  };
}

const mostNamed = 10;

function describeUnread(reports: readonly AttachmentReport[]): string[] {
  const unread = reports.filter(({ status }) => status === 'not_read');
  if (unread.length === 0) return [];
  const named = unread
    .slice(0, mostNamed)
    .map(({ name, code = 'unknown' }) => `${JSON.stringify(cut(name, 60))} (${code})`);
  const more = unread.length > mostNamed ? ` and ${unread.length - mostNamed} more` : '';
  return [`attachments_not_read: These attachments were not read: ${named.join(', ')}${more}.`];
}

function describeLeftOut(count: number): string[] {
  return count === 0
    ? []
    : [`attachments_left_out: ${count} attachments beyond the limit of ${attachmentLimits.count} were not read.`];
}

interface Target {
  readonly source: TextSource;
  readonly read: ReadDocument;
  /** Receives the text of the attachments. */
  readonly blocks: Block[];
}

/** Reads the attachments in order, until the mail and the mails around it have as many as the limit. */
async function readAttachments(mail: Email, { source, read, blocks }: Target) {
  const { depth, budget } = source.mail ?? { depth: 0, budget: { attachments: attachmentLimits.count } };
  const attachments = mail.attachments.filter((one) => !isInlinePicture(one) && !isOrnament(one));
  const reports: AttachmentReport[] = [];
  let leftOut = 0;
  for (const [index, attachment] of attachments.entries()) {
    if (budget.attachments === 0) {
      leftOut += 1;
      continue;
    }
    budget.attachments -= 1;
    const context = { source, read, mail: { depth: depth + 1, budget } };
    const found = await readAttachment(attachment, index + 1, context);
    for (const block of found.blocks) blocks.push(block);
    for (const report of found.reports) reports.push(report);
    source.onProgress?.(Math.floor(((index + 1) * 100) / attachments.length));
  }
  return { reports, leftOut };
}

/** Between the name of a mail and the name of its attachment. */
const separator = ' / ';

function bodyOf({ text = '', html = '' }: Email) {
  const words = text.split(/\s+/, fewWords + 1).length;
  if (html !== '' && words <= fewWords) {
    const { blocks, facts, warnings } = readHtml(Buffer.from(html), 'utf-8');
    if (blocks.length > 0 || text.trim() === '') return { blocks, warnings, dropped: facts.dropped };
  }
  const blocks: Block[] = text.trim() === '' ? [] : [{ kind: 'paragraph', text: text.trim() }];
  return { blocks, warnings: [], dropped: undefined };
}

/** A picture that the HTML text shows, such as a logo. */
function isInlinePicture({ mimeType, disposition, related }: Attachment): boolean {
  return mimeType.startsWith('image/') && related === true && disposition !== 'attachment';
}

/** A signature of the mail, or a picture of a format that is not read and too small for text, such as a logo. */
function isOrnament(attachment: Attachment): boolean {
  const { mimeType, filename } = attachment;
  if (/^application\/(?:(?:x-)?pkcs7-signature|pgp-signature)$/i.test(mimeType)) return true;
  if (/^(?:smime\.p7s|signature\.asc)$/i.test(filename ?? '')) return true;
  const bytes = Buffer.from(contentOf(attachment));
  const isGif = bytes.length >= 26 && /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6));
  const isBmp = bytes.length >= 26 && bytes.toString('latin1', 0, 2) === 'BM';
  if (isGif) return bytes.readUInt16LE(6) * bytes.readUInt16LE(8) <= mostOfLogo;
  return isBmp && Math.abs(bytes.readInt32LE(18) * bytes.readInt32LE(22)) <= mostOfLogo;
}
/** In pixels. */
const mostOfLogo = 20_000;

/** Smaller pictures within a text are logos, in bytes. */
const leastInline = 10_000;

function inlinePictures({ attachments }: Email): number {
  return attachments.filter((one) => isInlinePicture(one) && contentOf(one).length >= leastInline).length;
}

interface AttachmentContext {
  readonly source: TextSource;
  readonly read: ReadDocument;
  readonly mail: MailPlace;
}

async function readAttachment(attachment: Attachment, number: number, { source, read, mail }: AttachmentContext) {
  const name = labelOf(attachment, number);
  const format = formatOf(attachment);
  const bytes = contentOf(attachment);
  const base = { name, bytes: bytes.length };
  const refused = (code: string) => ({ blocks: [], reports: [{ ...base, status: 'not_read', code } as const] });
  if (format === undefined) return refused('format_not_supported');
  if (bytes.length === 0) return refused('file_empty');
  if (mail.depth > attachmentLimits.depth) return refused('nested_too_deep');
  try {
    const document = await read({ format, bytes, ocr: source.ocr, mail });
    const { attachments = [], ocr } = document.facts;
    const isEmpty = document.blocks.every((block) => block.text.trim() === '');
    // A picture that OCR has read without finding a word, such as a logo, has lost nothing.
    const isPlainPicture = isPictureFormat(format) && ocr !== undefined && ocr.not_read === undefined;
    const isCut = document.warnings.some((warning) => warning.startsWith('parts_cut:'));
    const report: AttachmentReport = {
      ...base,
      ...(isEmpty && !isPlainPicture
        ? ({ status: 'not_read', code: 'no_text' } as const)
        : { status: ocr?.not_read === undefined && !isCut ? 'read' : 'partial' }),
      ...(ocr === undefined ? {} : { ocr }),
      ...(document.warnings.length === 0 ? {} : { warnings: document.warnings.slice(0, attachmentLimits.warnings) }),
    };
    const nested = attachments.map((one) => ({ ...one, name: `${name}${separator}${one.name}` }));
    return { blocks: isEmpty ? [] : below(name, document.blocks), reports: [report, ...nested] };
  } catch (cause) {
    if (cause instanceof ExtractionError) return refused(cause.code);
    throw cause;
  }
}

const isPictureFormat = (format: string) => isPageFormat(format) && format !== 'pdf';

function contentOf({ content }: Attachment): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}

/** Puts the blocks of an attachment below its name. */
function below(name: string, blocks: readonly Block[]): Block[] {
  const deepest = 6;
  const lowered = blocks.map((block) =>
    block.kind === 'heading' ? { ...block, level: Math.min(deepest, (block.level ?? 1) + 1) } : block,
  );
  return [{ kind: 'heading', level: 1, text: name }, ...lowered];
}

/** Bounds of the attachments of a mail, together with those of the mails that are attached to it. */
export const attachmentLimits = {
  /** Attachments of a mail. */
  count: 100,
  /** Mails in mails. */
  depth: 3,
  /** Warnings of one attachment in the report. */
  warnings: 5,
};
