import { delimiter, isAbsolute } from 'node:path';
import type { Setting } from './setting.ts';
import { anyText, checkLanguages, oneOf, wholeNumber } from './setting-checks.ts';

/** The reading of scanned pages by tesseract. */
export const ocrSettings = {
  OCR: {
    description:
      'Read scanned pages of PDF documents with tesseract: `auto` reads them if the program is installed; `on` refuses to start without it; `off` reads none',
    default: 'auto',
    check: oneOf(['auto', 'on', 'off']),
  },
  OCR_PROGRAM: {
    description: 'Run this program as tesseract: a name on the PATH or an absolute path',
    default: 'tesseract',
    check: anyText,
  },
  OCR_LANGUAGES: {
    description:
      'Read scanned pages in these languages of tesseract, at most 4, separated by commas, such as `deu,eng`. Each needs its language data. For a language in another script, add `eng` if its pages contain Latin words',
    default: 'eng',
    check: checkLanguages,
  },
  OCR_PAGES: {
    description: 'Read at most this many scanned pages of a record. With more, the record is `partial`',
    default: '500',
    check: wholeNumber(1, 100_000),
  },
  OCR_MEGAPIXELS: {
    description:
      'Draw scanned pages with at most this many million pixels. Larger pages get fewer pixels per inch; below 100 pixels per inch they are not read, and the record is `partial`',
    default: '25',
    check: wholeNumber(1, 200),
  },
  OCR_PAGE_SECONDS: {
    description: 'Stop reading a scanned page after this many seconds. The record is then `partial`',
    default: '60',
    check: wholeNumber(1, 600),
  },
  OCR_SECONDS: {
    description: 'Read scanned pages of one record for at most this many seconds. The record is then `partial`',
    default: '900',
    check: wholeNumber(1, 1500),
  },
} as const satisfies Record<string, Setting>;

/** The reading of scanned pages. */
export interface OcrConfig {
  readonly mode: 'auto' | 'on' | 'off';
  readonly program: string;
  /** The folders of the PATH. */
  readonly folders: readonly string[];
  readonly languages: readonly string[];
  /** The limit of one record. */
  readonly maxPages: number;
  /** The limit of one page. */
  readonly maxPixels: number;
  readonly pageSeconds: number;
  readonly recordSeconds: number;
}

/** Reads settings by name, as their text, number or list. */
interface OcrReader {
  text(key: keyof typeof ocrSettings): string;
  number(key: keyof typeof ocrSettings): number;
  list(key: keyof typeof ocrSettings): string[];
}

/** @param path the PATH of the service */
export function readOcr({ text, number, list }: OcrReader, path: string): OcrConfig {
  return {
    mode: text('OCR') as OcrConfig['mode'], // checked against its list
    program: text('OCR_PROGRAM'),
    folders: path.split(delimiter).filter(isAbsolute),
    languages: [...new Set(list('OCR_LANGUAGES'))],
    maxPages: number('OCR_PAGES'),
    maxPixels: number('OCR_MEGAPIXELS') * 1_000_000,
    pageSeconds: number('OCR_PAGE_SECONDS'),
    recordSeconds: number('OCR_SECONDS'),
  };
}
