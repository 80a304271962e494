/** The formats whose pages can be shown. */
const pageFormats = ['pdf', 'png', 'jpg', 'tiff', 'webp'] as const;
export type PageFormat = (typeof pageFormats)[number];

export function isPageFormat(extension: string): extension is PageFormat {
  return pageFormats.some((format) => format === extension);
}

/** A request for the places of a passage, and for a picture of one page. Pages count from 1. */
export interface PageJob {
  readonly format: PageFormat;
  /** The text of the passage; '' for none. */
  readonly passage: string;
  /** The pages on which the passage stands. */
  readonly first: number;
  readonly last: number;
  /** Where OCR has read the passage on these pages. */
  readonly scanned: readonly ScanBox[];
  /** Null when only the places are wanted. */
  readonly picture: { readonly page: number; readonly width: number } | null;
}

/** A rectangle in points from the top left corner of the page as it is shown: left, top, width, height. */
export type Box = readonly [left: number, top: number, width: number, height: number];
/** A rectangle that OCR has found on a page, in points, too. */
export type ScanBox = readonly [page: number, ...box: Box];

/** A page with the places of the passage, one for each line. Sizes are in points. */
export interface PageBoxes {
  readonly page: number;
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
}

/** The picture, a PNG, follows `read` as bytes if the job has one. */
export type PageAnswer =
  | { readonly kind: 'read'; readonly pages: readonly PageBoxes[] }
  | { readonly kind: 'no_page'; readonly numPages: number }
  | { readonly kind: 'failed'; readonly message: string };

/** The bounds of one request. The process keeps to them, and the server checks what it returns. */
export const pageLimits = {
  /** The pages in which a passage is searched. */
  pages: 40,
  /** The letters and digits of these pages together. */
  letters: 400_000,
  boxes: 2_000,
  pixels: 4_000_000,
  pngBytes: 14 * 2 ** 20,
  seconds: 20,
} as const;

/**
 * Validates the answer of a process, because a malicious document may control it.
 * @throws TypeError when it is not an answer
 */
export function checkPageAnswer(value: unknown): PageAnswer {
  if (!isObject(value)) throw new TypeError('not an answer');
  if (value.kind === 'failed' && typeof value.message === 'string')
    return { kind: 'failed', message: value.message.slice(0, 300) };
  if (value.kind === 'no_page' && Number.isSafeInteger(value.numPages))
    return { kind: 'no_page', numPages: Number(value.numPages) };
  const { kind, pages } = value;
  if (kind !== 'read' || !Array.isArray(pages) || pages.length > pageLimits.pages || !pages.every(isPageBoxes))
    throw new TypeError('not an answer');
  return { kind, pages: pages.map(({ page, width, height, boxes }) => ({ page, width, height, boxes })) };
}

function isPageBoxes(value: unknown): value is PageBoxes {
  if (!isObject(value) || !Array.isArray(value.boxes) || value.boxes.length > pageLimits.boxes) return false;
  return [value.page, value.width, value.height].every(Number.isFinite) && value.boxes.every(isBox);
}

function isBox(value: unknown): boolean {
  return Array.isArray(value) && value.length === 4 && value.every(Number.isFinite);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
