import {
  filterLimits,
  metadataLimits,
  pagePictureWidth,
  recordTextLimits,
  separatorLimits,
  textLimits,
} from '@quartermaster/contract';
import { mostMetadataBytes } from '../collections/chunks/read-fields.ts';
import { maxCapacity } from '../collections/collection-repository.ts';
import { loadLimits } from '../dialects/open-webui/load-document.ts';
import { attachmentLimits } from '../extraction/formats/eml/attachment-limits.ts';
import { mostDecodedPixels } from '../extraction/formats/image/picture.ts';
import { deepestJson } from '../extraction/formats/json/json-values.ts';
import { packageLimits } from '../extraction/formats/package-limits.ts';
import { pageLimits } from '../extraction/pages/page-protocol.ts';
import { mostColumns } from '../extraction/qa/sheet.ts';
import { answerTokens } from '../mcp/knowledge/answer-size.ts';
import { resourceLimits } from '../mcp/knowledge/list-resources.ts';
import { questionLimits } from '../mcp/knowledge/tool-arguments.ts';
import { type Limit, refused } from './limit.ts';
import { questionLimits as questionLimitRows } from './question-limits.ts';

const invalid = refused('REQUEST_VALIDATION_ERROR');
const callFails = 'The tool call fails with `REQUEST_VALIDATION_ERROR`.';
const notRead = 'The page is not read. The record ends in `partial`, and `ocr.not_read` of its report names the page.';
const unread = 'The record ends in `error` with the code `unpacked_limit`.';

/** Limits of collections, records, chunks and queries. */
export const collectionLimits = {
  collections_of_project: {
    bounds: 'collections of one project, those that are being deleted included',
    unit: 'items',
    value: (config) => config.maxCollections,
    setting: 'MAX_COLLECTIONS',
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  records_of_collection: {
    bounds: 'records of one collection',
    unit: 'items',
    value: (config) => config.maxRecords,
    setting: 'MAX_RECORDS',
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  waiting_records: {
    bounds: 'records of one project that wait to be processed or are in work',
    unit: 'items',
    value: (config) => config.maxWaitingRecords,
    setting: 'MAX_WAITING_RECORDS',
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  question_seconds: {
    bounds: 'the search for the answer to one question to a collection',
    unit: 'seconds',
    value: (config) => config.questionSeconds,
    setting: 'QUESTION_SECONDS',
    above: refused('SERVICE_UNAVAILABLE'),
  },
  dry_runs: {
    bounds: 'dry runs of records at the same time, in one process',
    unit: 'items',
    value: (config) => config.extractionProcesses,
    setting: 'EXTRACTION_PROCESSES',
    above: refused('TOO_MANY_REQUESTS'),
  },
  chunks_of_collection: {
    bounds: 'chunks of one collection, or its `capacity` if that is less; a record that needs more ends in `error`',
    unit: 'items',
    value: () => maxCapacity,
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  content_characters: {
    bounds: 'the text of a chunk or of a record of type `text`',
    unit: 'characters',
    value: () => textLimits.content,
    above: invalid,
  },
  page_picture_width: {
    bounds: '`width` of the picture of a page',
    unit: 'pixels',
    value: () => pagePictureWidth.most,
    above: invalid,
  },
  page_picture_pixels: {
    bounds: 'the pixels of the picture of a page',
    unit: 'pixels',
    value: () => pageLimits.pixels,
    above: 'The picture is narrower than `width`.',
  },
  page_seconds: {
    bounds: 'the time in which the process of a page finds a passage and draws the page',
    unit: 'seconds',
    value: () => pageLimits.seconds,
    above: invalid,
  },
  waiting_pages: {
    bounds: 'requests for boxes or pictures of pages that wait, in one process',
    unit: 'items',
    value: () => pageLimits.waiting,
    above: refused('TOO_MANY_REQUESTS'),
  },
  record_text_characters: {
    bounds: '`max_characters` of the extracted text of a record',
    unit: 'characters',
    value: () => recordTextLimits.characters,
    above: invalid,
  },
  query_characters: {
    bounds: '`query_text`',
    unit: 'characters',
    value: () => textLimits.query,
    above: invalid,
  },
  ...questionLimitRows,
  knowledge_query_characters: {
    bounds: '`query` of the MCP tool `search`',
    unit: 'characters',
    value: () => questionLimits.query,
    above: callFails,
  },
  knowledge_collections: {
    bounds: 'collections of one question over MCP',
    unit: 'items',
    value: () => questionLimits.collections,
    above: callFails,
  },
  knowledge_results: {
    bounds: 'passages of one answer over MCP',
    unit: 'items',
    value: () => questionLimits.results,
    above: callFails,
  },
  knowledge_passages: {
    bounds: 'passages of all answers to one question over MCP',
    unit: 'items',
    value: () => questionLimits.ranked,
    above: 'The last answer has no `next_cursor`.',
  },
  knowledge_answer_tokens: {
    bounds: 'tokens of one answer of a knowledge tool over MCP',
    unit: 'items',
    value: () => answerTokens.most,
    above: callFails,
  },
  knowledge_resources: {
    bounds: 'resources of one page of `resources/list` over MCP',
    unit: 'items',
    value: () => resourceLimits.page,
    above: 'The next page continues the list.',
  },
  title_characters: {
    bounds: 'the title of a record',
    unit: 'characters',
    value: () => textLimits.title,
    above: invalid,
  },
  metadata_entries: {
    bounds: 'entries of the metadata of a collection, record or chunk',
    unit: 'items',
    value: () => metadataLimits.entries,
    above: invalid,
  },
  metadata_name_characters: {
    bounds: 'the name of an entry of metadata',
    unit: 'characters',
    value: () => metadataLimits.nameCharacters,
    above: invalid,
  },
  metadata_text_characters: {
    bounds: "a value of a record's metadata",
    unit: 'characters',
    value: () => metadataLimits.textCharacters,
    above: invalid,
  },
  metadata_bytes: {
    bounds: 'the metadata of a collection, record or chunk as JSON',
    unit: 'bytes',
    value: () => mostMetadataBytes,
    above: invalid,
  },
  filter_conditions: {
    bounds: 'conditions of one group of a filter; groups nest at most two deep',
    unit: 'items',
    value: () => filterLimits.conditions,
    above: invalid,
  },
  filter_values: {
    bounds: 'values of a condition `in` or `nin`',
    unit: 'items',
    value: () => filterLimits.values,
    above: invalid,
  },
  filter_total_values: {
    bounds: 'values of all conditions of a filter together; a condition without a value counts as one',
    unit: 'items',
    value: () => filterLimits.totalValues,
    above: invalid,
  },
  filter_text_characters: {
    bounds: 'a value in a filter',
    unit: 'characters',
    value: () => filterLimits.textCharacters,
    above: invalid,
  },
  loaded_document_characters: {
    bounds: 'the text of a document that is read for Open WebUI',
    unit: 'characters',
    value: () => loadLimits.characters,
    above: refused('FILE_TOO_LARGE'),
  },
  loaded_document_blocks: {
    bounds: 'paragraphs or rows of a document that is read for Open WebUI',
    unit: 'items',
    value: () => loadLimits.blocks,
    above: refused('FILE_TOO_LARGE'),
  },
  separator_count: {
    bounds: 'separators of a text splitter',
    unit: 'items',
    value: () => separatorLimits.separators,
    above: invalid,
  },
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
  document_json_depth: {
    bounds: 'nested objects and lists of a JSON document',
    unit: 'levels',
    value: () => deepestJson,
    above: 'The record ends in `error` with the code `file_damaged`.',
  },
  mail_attachments: {
    bounds: 'attachments of a mail, with those of the mails in it',
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
