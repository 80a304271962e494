import type { OpenPdf } from './open-pdf.ts';

/** The value of a form field and where it stands: left, top, right and bottom. */
export interface ShownValue {
  readonly text: string;
  readonly box: readonly [number, number, number, number];
}

const mostUnits = 4_096;
/** A character that only touches the box belongs to another field. */
const inset = 3;

/**
 * Returns the values of fields as a page shows them: a form may display `232,324.00` for the value `232324`. Fields become part of
 * the page, whose text is then read at their places.
 * @param index the number of the page, from 0. The page must not be open for other annotations any more
 */
export function readShownValues(pdf: OpenPdf, index: number, values: readonly ShownValue[]): string[] {
  if (values.length === 0) return [];
  const { pdfium, document } = pdf;
  const before = readBoxes(pdf, index, values);
  const page = pdfium.FPDF_LoadPage(document, index);
  const isFlat = page !== 0 && pdfium.FPDFPage_Flatten(page, 0) !== 0;
  if (page !== 0) pdfium.FPDF_ClosePage(page);
  const after = isFlat ? readBoxes(pdf, index, values) : before;
  return values.map(({ text }, at) => {
    const shown = (after[at] ?? '').replace(before[at] ?? '', '').trim();
    return isShort(shown, text) ? text : shown;
  });
}

/** Whether the box shows nothing but a part of the value, which may be longer than the box. */
function isShort(shown: string, value: string): boolean {
  const plain = (text: string) => text.replace(/\s/g, '');
  return plain(value).includes(plain(shown));
}

/** Returns the text of the page in each box. */
function readBoxes({ pdfium, memory, document }: OpenPdf, index: number, values: readonly ShownValue[]): string[] {
  const page = pdfium.FPDF_LoadPage(document, index);
  const text = page === 0 ? 0 : pdfium.FPDFText_LoadPage(page);
  const buffer = pdfium.malloc(2 * mostUnits);
  const texts = values.map(({ box: [left, top, right, bottom] }) => {
    const edge = Math.min(inset, (top - bottom) / 4);
    const place = [left + 1, top - edge, right - 1, bottom + edge];
    const units = text === 0 ? 0 : pdfium.FPDFText_GetBoundedText(text, ...place, buffer, mostUnits);
    const read = Buffer.from(memory().buffer, buffer, 2 * Math.max(0, Math.min(units, mostUnits))).toString('utf16le');
    return read.replaceAll('\0', '').replace(/\s+/g, ' ').trim();
  });
  pdfium.free(buffer);
  if (text !== 0) pdfium.FPDFText_ClosePage(text);
  if (page !== 0) pdfium.FPDF_ClosePage(page);
  return texts;
}
