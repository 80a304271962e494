import { zlibSync } from 'fflate';
import type { Picture } from '../../ocr/recognition.ts';
import { openPdf } from '../pdf/open-pdf.ts';
import { drawPage } from '../pdf/read-scans.ts';

/** Draws pages of a PDF, from 1, as a scanner would see them. */
export async function drawPages(bytes: Uint8Array, pages: readonly number[], dpi: number): Promise<Picture[]> {
  const pdf = await openPdf(bytes);
  try {
    return pages.map((number) => {
      const page = pdf.pdfium.FPDF_LoadPage(pdf.document, number - 1);
      const picture = drawPage(pdf, page, dpi);
      pdf.pdfium.FPDF_ClosePage(page);
      if (picture === undefined) throw new Error(`page ${number} cannot be drawn`);
      return picture;
    });
  } finally {
    pdf.close();
  }
}

export interface ScannedPage {
  readonly picture: Pick<Picture, 'width' | 'height' | 'dpi'> & { readonly gray: Uint8Array };
  /** How a viewer turns the page, in degrees. */
  readonly rotate?: 0 | 90 | 180 | 270;
  /** A text over the picture. */
  readonly text?: string;
}

/** Builds a PDF whose pages are pictures. */
export function scannedPdf(pages: readonly ScannedPage[]): Buffer {
  const objects: Buffer[] = [];
  const add = (head: string, stream?: Uint8Array): number => {
    const number = objects.length + 1;
    const body =
      stream === undefined
        ? [head]
        : [head.replace('>>', `/Length ${stream.length} >>`), '\nstream\n', stream, '\nendstream'];
    objects.push(Buffer.concat([`${number} 0 obj\n`, ...body, '\nendobj\n'].map((part) => Buffer.from(part))));
    return number;
  };
  add('<< /Type /Catalog /Pages 2 0 R >>');
  const kids = pages.map((_, index) => `${4 + index * 3 + 2} 0 R`).join(' ');
  add(`<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`);
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  for (const { picture, rotate = 0, text = '' } of pages) {
    const { width, height, dpi, gray } = picture;
    const [w, h] = [(width * 72) / dpi, (height * 72) / dpi];
    const image = add(
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode >>`,
      zlibSync(gray),
    );
    const content = add('<< >>', Buffer.from(`q ${w} 0 0 ${h} 0 0 cm /I Do Q BT /F 9 Tf 20 20 Td (${text}) Tj ET`));
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${w} ${h}] /Rotate ${rotate} /Contents ${content} 0 R
        /Resources << /XObject << /I ${image} 0 R >> /Font << /F 3 0 R >> >> >>`,
    );
  }
  return withTable(objects);
}

function withTable(objects: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  let length = parts[0]?.length ?? 0;
  let table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const object of objects) {
    table += `${String(length).padStart(10, '0')} 00000 n \n`;
    parts.push(object);
    length += object.length;
  }
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table + trailer)]);
}
