import { reportLimits } from '../extraction/bound-report.ts';
import { attachmentLimits } from '../extraction/formats/eml/attachment-limits.ts';
import { mostDecodedPixels } from '../extraction/formats/image/picture.ts';
import { deepestJson } from '../extraction/formats/json/json-values.ts';
import { packageLimits } from '../extraction/formats/package-limits.ts';
import { placeLimits } from '../extraction/place-names.ts';
import { mostColumns } from '../extraction/qa/sheet.ts';
import { storedLimits } from '../ingestion/stored-bytes.ts';
import type { Limit } from './limit.ts';

const notRead = 'The page is not read. The record ends in `partial`, and `ocr.not_read` of its report names the page.';
const unread = 'The record ends in `error` with the code `unpacked_limit`.';

/** Limits of the documents that become records. */
export const documentLimits = {
  archive_entries: {
    bounds: 'entries of an Office, OpenDocument or EPUB file',
    unit: 'items',
    value: () => packageLimits.entries,
    above: unread,
  },
  archive_unpacked_bytes: {
    bounds: 'the unpacked parts of an Office, OpenDocument or EPUB file together',
    unit: 'bytes',
    value: () => packageLimits.unpackedBytes,
    above: unread,
  },
  place_name_characters: {
    bounds: 'a heading, or the name of a sheet, in the locator of a chunk',
    unit: 'characters',
    value: () => placeLimits.name,
    above: 'The name is cut and ends in `…`. A warning counts the cut names.',
  },
  heading_path_characters: {
    bounds: 'all headings in the locator of a chunk together',
    unit: 'characters',
    value: () => placeLimits.headingPath,
    above: 'Each heading is cut to an equal share and ends in `…`. A warning counts the cut names.',
  },
  record_stored_bytes: {
    bounds:
      'the content, places and terms stored for a record, minus 64 bytes for each character of its text and metadata',
    unit: 'bytes',
    value: () => storedLimits.bytes,
    above: 'The record ends in `error` with the code `storage_limit`.',
  },
  report_characters: {
    bounds: 'the `report` of a record as JSON',
    unit: 'characters',
    value: () => reportLimits.characters,
    above: 'Its texts and lists are shortened. A warning counts what is left out.',
  },
  document_json_depth: {
    bounds: 'nested objects and lists of a JSON document',
    unit: 'levels',
    value: () => deepestJson,
    above: 'The record ends in `error` with the code `file_damaged`.',
  },
  mail_attachments: {
    bounds: 'attachments of a mail, including those of mails in it',
    unit: 'items',
    value: () => attachmentLimits.count,
    above: 'The others are not read; a warning counts them, and the record is `partial`.',
  },
  mail_depth: {
    bounds: 'mails in mails whose attachments are read',
    unit: 'levels',
    value: () => attachmentLimits.depth,
    above: 'The attachment is not read, with the code `nested_too_deep` in the report, and the record is `partial`.',
  },
  picture_pixels: {
    bounds: 'pixels of a PNG or WebP picture, and of a page of a TIFF file',
    unit: 'pixels',
    value: () => mostDecodedPixels,
    above: 'The picture or page is not read. The record ends in `error`, or in `partial` if other pages have text.',
  },
  ocr_pages: {
    bounds: 'scanned pages of one record that are read by OCR',
    unit: 'items',
    value: (config) => config.ocr.maxPages,
    setting: 'OCR_PAGES',
    above: notRead,
  },
  ocr_megapixels: {
    bounds: 'the picture of a scanned page, drawn with at least 100 pixels per inch',
    unit: 'pixels',
    value: (config) => config.ocr.maxPixels,
    setting: 'OCR_MEGAPIXELS',
    above: notRead,
  },
  ocr_page_seconds: {
    bounds: 'OCR of one scanned page',
    unit: 'seconds',
    value: (config) => config.ocr.pageSeconds,
    setting: 'OCR_PAGE_SECONDS',
    above: notRead,
  },
  ocr_seconds: {
    bounds: 'OCR of all scanned pages of one record',
    unit: 'seconds',
    value: (config) => config.ocr.recordSeconds,
    setting: 'OCR_SECONDS',
    above: notRead,
  },
  sheet_columns: {
    bounds: 'columns of a row of a sheet',
    unit: 'items',
    value: () => mostColumns,
    above: 'The row is rejected with the code `extra_columns`.',
  },
} as const satisfies Record<string, Limit>;
