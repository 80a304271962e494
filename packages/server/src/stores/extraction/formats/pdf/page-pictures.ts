import type { OpenPdf } from './open-pdf.ts';

const pointsPerInch = 72;
/** Pictures over this share of a page make it a scan. */
export const scanCoverage = 0.6;

/** What pictures a page has, found without decoding them. */
interface PagePictures {
  /** The page has a picture or a drawing. */
  readonly isMarked: boolean;
  /** The share of the page that pictures cover, from 0 to 1. Pictures that overlap count more than once. */
  readonly coverage: number;
  /** The number of pixels of the largest picture. */
  readonly largestPixels: number;
  /** The picture that is the only one and covers the page. */
  readonly only: OnlyPicture | undefined;
}

export interface OnlyPicture {
  readonly width: number;
  readonly height: number;
  /** Pixels per inch. */
  readonly dpi: number;
  /** The object of the page, which may be a form around the picture. */
  readonly object: number;
  /** The share of the page that it covers. */
  readonly coverage: number;
}

/** Kinds of page objects. Source: fpdf_edit.h of PDFium. */
const kinds = { text: 1, path: 2, image: 3, shading: 4, form: 5 } as const;
/** A text is a mark, too: the page may show it although it gives no letters. */
const marks = new Set<number>([kinds.text, kinds.path, kinds.shading]);
/** The maximum number of objects examined on a page, and the maximum nesting of forms. */
const mostObjects = 20_000;
const deepestForm = 4;

/** Examines the objects of an open page. */
export function findPictures({ pdfium, memory }: OpenPdf, page: number): PagePictures {
  const buffer = pdfium.malloc(16);
  const area = pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page);
  let examined = 0;
  let covered = 0;
  let isMarked = false;
  let largestPixels = 0;
  let images = 0;
  let only = { width: 0, height: 0, object: 0 };

  function addImage(image: number): void {
    isMarked = true;
    images += 1;
    if (pdfium.FPDFImageObj_GetImagePixelSize(image, buffer, buffer + 4) === 0) return;
    const [width, height] = [memory().getUint32(buffer, true), memory().getUint32(buffer + 4, true)];
    largestPixels = Math.max(largestPixels, width * height);
    only = { ...only, width, height };
  }

  function cover(object: number): void {
    only = { ...only, object };
    if (pdfium.FPDFPageObj_GetBounds(object, buffer, buffer + 4, buffer + 8, buffer + 12) === 0) return;
    const at = (offset: number) => memory().getFloat32(buffer + offset, true);
    covered += Math.max(0, at(8) - at(0)) * Math.max(0, at(12) - at(4));
  }

  /** The bounds of a form are those on the page; the bounds of what it contains are not. */
  function examineForm(form: number, depth: number): boolean {
    let hasImage = false;
    const count = depth > deepestForm ? 0 : pdfium.FPDFFormObj_CountObjects(form);
    for (let at = 0; at < count && examined < mostObjects; at += 1) {
      examined += 1;
      const object = pdfium.FPDFFormObj_GetObject(form, at);
      const kind = pdfium.FPDFPageObj_GetType(object);
      if (kind === kinds.image) {
        addImage(object);
        hasImage = true;
      } else if (kind === kinds.form) hasImage = examineForm(object, depth + 1) || hasImage;
      else if (marks.has(kind)) isMarked = true;
    }
    return hasImage;
  }

  const count = pdfium.FPDFPage_CountObjects(page);
  for (let at = 0; at < count && examined < mostObjects; at += 1) {
    examined += 1;
    const object = pdfium.FPDFPage_GetObject(page, at);
    const kind = pdfium.FPDFPageObj_GetType(object);
    if (kind === kinds.image) {
      addImage(object);
      cover(object);
    } else if (kind === kinds.form) {
      if (examineForm(object, 1)) cover(object);
    } else if (marks.has(kind)) isMarked = true;
  }
  pdfium.free(buffer);
  const coverage = area > 0 ? Math.min(1, covered / area) : 0;
  const isOnly = images === 1 && coverage >= scanCoverage;
  const dpi = Math.round(pointsPerInch * Math.sqrt(largestPixels / covered));
  return { isMarked, coverage, largestPixels, only: isOnly ? { ...only, dpi, coverage } : undefined };
}

/** A share of the size of a page that is less than a pixel, and more than the rounding of PDFium's numbers. */
const inset = 2e-5;

/**
 * Makes a picture that fills a page smaller by a fraction of a pixel. PDFium draws it in all pixels that it touches, so
 * that otherwise the rounding of a number adds a row of pixels, and PDFium scales the picture.
 */
export function insetPicture({ pdfium, memory }: OpenPdf, object: number): void {
  const buffer = pdfium.malloc(24);
  pdfium.FPDFPageObj_GetBounds(object, buffer, buffer + 4, buffer + 8, buffer + 12);
  const [left = 0, bottom = 0, right = 0, top = 0] = [0, 4, 8, 12].map((at) => memory().getFloat32(buffer + at, true));
  const matrix = [1 - inset, 0, 0, 1 - inset, ((left + right) * inset) / 2, ((bottom + top) * inset) / 2];
  for (const [index, value] of matrix.entries()) memory().setFloat32(buffer + 4 * index, value, true);
  pdfium.FPDFPageObj_TransformF(object, buffer);
  pdfium.free(buffer);
}
