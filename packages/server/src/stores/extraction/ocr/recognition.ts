/** A page as a picture, to be read by OCR. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Pixels per inch. */
  readonly dpi: number;
  /** One byte for each pixel, from 0 (black) to 255 (white), row by row. */
  readonly gray: Uint8Array;
}

/** Reasons why a page was not read by OCR. */
export const unreadReasons = [
  /** The record has as many pages as OCR may read. */
  'page_limit',
  /** OCR has read pages of this record for as long as it may. */
  'time_limit',
  /** OCR of this page took too long. */
  'page_time_limit',
  /** The page, or a picture on it, has too many pixels. */
  'pixel_limit',
  'memory_limit',
  /** The program failed, or PDFium could not draw the page. */
  'failed',
  /** The words are so doubtful that the page counts as not read. */
  'low_confidence',
  /** No language data for the script of the page is installed. */
  'script_not_installed',
] as const;
export type UnreadReason = (typeof unreadReasons)[number];

export type Recognition =
  /** `tsv` is the table of words that tesseract prints. */
  | {
      readonly kind: 'read';
      readonly tsv: string;
      readonly seconds: number;
      /** The languages in which it was read, if they are not those of the job. */
      readonly languages?: readonly string[];
    }
  | {
      readonly kind: 'unread';
      readonly reason: UnreadReason;
      readonly seconds: number;
      /** What to install for the script of the page. */
      readonly remedy?: string;
    };

/** What a reader knows about OCR. The server enforces the same limits, because a document may control the reader. */
export type OcrJob =
  | { readonly kind: 'off' }
  /** `remedy` is a sentence for the report. */
  | { readonly kind: 'missing'; readonly remedy: string }
  | {
      readonly kind: 'on';
      /** The name and the version of the program. */
      readonly engine: string;
      readonly languages: readonly string[];
      readonly maxPixels: number;
      readonly maxPages: number;
    };

/** OCR, as a reader uses it. */
export interface Ocr {
  readonly job: OcrJob;
  recognize(picture: Picture): Promise<Recognition>;
}

/** Pages are drawn with this resolution, or less when they have too many pixels. */
export const ocrDpi = 300;
/** With a lower resolution, letters are too small to be read. */
export const lowestDpi = 100;
/** The maximum plausible resolution of a page. */
const highestDpi = 2400;
/** The OCR program reads no picture with a longer side. */
const longestSide = 32_767;

/** Whether a reader may send a picture of this size to the server. Both the reader and the server call this function. */
export function isSendable({ width, height, dpi }: Omit<Picture, 'gray'>, maxPixels: number): boolean {
  const isPositive = [width, height, dpi].every((value) => Number.isInteger(value) && value > 0);
  return isPositive && Math.max(width, height) <= longestSide && width * height <= maxPixels && dpi <= highestDpi;
}

/** The longest table of words of one page, in bytes. */
export const longestTable = 8 * 2 ** 20;
