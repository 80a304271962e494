import { writeSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { frameKinds } from '../../../platform/processes/frames.ts';
import { openParentChannel } from '../../../platform/processes/parent-channel.ts';
import { ExtractionError } from '../extraction-error.ts';
import { openPicture } from '../formats/image/picture.ts';
import { toPdf } from '../formats/image/picture-pdf.ts';
import { type OpenPdf, openPdf } from '../formats/pdf/open-pdf.ts';
import { type Box, type PageAnswer, type PageJob, pageLimits } from '../page-protocol.ts';
import { locateOnPages } from './locate-on-pages.ts';

/**
 * The process that finds and draws one passage of a PDF document or a picture. It has no environment, no network, and no
 * files except its own program. A job and the bytes of the document come in by its channel, and an empty piece at their
 * end.
 */
let job: PageJob | undefined;
const pieces: Buffer[] = [];

const channel = openParentChannel((kind, content) => {
  if (kind === frameKinds.message)
    job = JSON.parse(content.toString()) as PageJob; // written by our own server
  else if (content.length > 0) pieces.push(Buffer.from(content));
  else void work();
});

async function work(): Promise<void> {
  if (job === undefined) return;
  try {
    await answer(job, Buffer.concat(pieces.splice(0)));
  } catch (cause) {
    if (!(cause instanceof ExtractionError)) writeSync(2, `${cause instanceof Error ? cause.stack : String(cause)}\n`);
    await send({ kind: 'failed', message: describe(cause) });
  }
}

function describe(cause: unknown): string {
  if (!(cause instanceof ExtractionError)) return 'The parser of this format crashed on the document.';
  if (cause.code !== 'file_encrypted') return cause.message;
  return 'The pages cannot be shown: the file has a password, which was erased after its text was read.';
}

async function answer(wanted: PageJob, bytes: Buffer): Promise<void> {
  const pdf = await openPages(wanted, bytes);
  try {
    const { picture } = wanted;
    const pages = locateOnPages(pdf, wanted);
    if (picture === null) return await send({ kind: 'read', pages });
    if (picture.page > pdf.numPages) return await send({ kind: 'no_page', numPages: pdf.numPages });
    const boxes = pages.find(({ page }) => page === picture.page)?.boxes ?? [];
    const png = drawPicture(pdf, picture, boxes);
    if (png === undefined) return await send({ kind: 'failed', message: `Page ${picture.page} is damaged.` });
    await send({ kind: 'read', pages });
    await channel.send(frameKinds.bytes, png);
  } finally {
    pdf.close();
  }
}

function send(message: PageAnswer): Promise<void> {
  return channel.send(frameKinds.message, JSON.stringify(message));
}

/**
 * Opens a document whose pages can be shown. A picture becomes pages of a PDF document, as when it was read.
 * @throws ExtractionError when it is damaged, or when the wanted picture has too many pixels to be decoded
 */
async function openPages({ format, picture }: PageJob, bytes: Uint8Array): Promise<OpenPdf> {
  if (format === 'pdf') return openPdf(bytes);
  const { pages } = await openPicture(format, bytes);
  if (picture !== null && pages[picture.page - 1]?.parts.length === 0)
    throw new ExtractionError('memory_limit', `Page ${picture.page} has too many pixels to be drawn.`);
  return openPdf(toPdf(pages));
}

/** FPDFBitmap_BGR of PDFium: three bytes for each pixel. */
const threeBytes = 2;
/** FPDF_ANNOT and FPDF_REVERSE_BYTE_ORDER of PDFium: annotations are drawn, and red is the first byte. */
const drawing = 0x01 | 0x10;
const white = 0xff_ff_ff_ff;
const channels = 3;
/** The share of red, green and blue that remains below a box: yellow, and black stays black. */
const tint = [1, 0.9, 0.4] as const;
const outline = [214, 120, 0] as const;

/**
 * Draws a page and marks boxes on it. The picture is narrower than `width` when it would have too many pixels.
 * @returns a PNG; undefined when the page is broken or PDFium has no memory for it
 */
function drawPicture(
  { pdfium, memory, document }: OpenPdf,
  { page: number, width: wanted }: { readonly page: number; readonly width: number },
  boxes: readonly Box[],
): Buffer | undefined {
  const page = pdfium.FPDF_LoadPage(document, number - 1);
  if (page === 0) return undefined;
  try {
    const [pageWidth, pageHeight] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
    if (!(pageWidth > 0 && pageHeight > 0)) return undefined;
    const scale = Math.min(wanted / pageWidth, Math.sqrt(pageLimits.pixels / (pageWidth * pageHeight)));
    const width = Math.max(1, Math.floor(pageWidth * scale + 1e-6));
    const height = Math.min(Math.max(1, Math.round(pageHeight * scale)), Math.floor(pageLimits.pixels / width));
    const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, threeBytes, 0, 0);
    if (bitmap === 0) return undefined;
    try {
      pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
      pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, drawing);
      const stride = pdfium.FPDFBitmap_GetStride(bitmap);
      const start = pdfium.FPDFBitmap_GetBuffer(bitmap);
      const rows = Buffer.alloc(height * (1 + width * channels));
      for (let y = 0; y < height; y += 1)
        rows.set(new Uint8Array(memory().buffer, start + y * stride, width * channels), y * (1 + width * channels) + 1);
      const picture = { width, height, rows };
      for (const box of boxes) mark(picture, box.map((side) => side * scale) as unknown as Box); // four numbers, too
      return toPng(picture);
    } finally {
      pdfium.FPDFBitmap_Destroy(bitmap);
    }
  } finally {
    pdfium.FPDF_ClosePage(page);
  }
}

/** Each row begins with the byte of its filter, as in a PNG. */
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly rows: Buffer;
}

function mark({ width, height, rows }: Picture, [x, y, w, h]: Box): void {
  const [left, top] = [Math.max(0, Math.floor(x) - 1), Math.max(0, Math.floor(y) - 1)];
  const [right, bottom] = [Math.min(width, Math.ceil(x + w) + 1), Math.min(height, Math.ceil(y + h) + 1)];
  for (let row = top; row < bottom; row += 1) {
    for (let column = left; column < right; column += 1) {
      const isEdge = row === top || row === bottom - 1 || column === left || column === right - 1;
      const at = row * (1 + width * channels) + 1 + column * channels;
      for (let channel = 0; channel < channels; channel += 1)
        rows[at + channel] = isEdge ? (outline[channel] ?? 0) : (rows[at + channel] ?? 0) * (tint[channel] ?? 1);
    }
  }
}

/** Source: Portable Network Graphics (PNG) Specification, third edition. */
function toPng({ width, height, rows }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const data = deflateSync(rows, { level: 5 });
  return Buffer.concat([signature, part('IHDR', header), part('IDAT', data), part('IEND', Buffer.alloc(0))]);
}

function part(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
