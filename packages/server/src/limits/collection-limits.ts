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
import { pageLimits } from '../extraction/pages/page-protocol.ts';
import { queues } from '../kernel/admission/queues.ts';
import { answerTokens } from '../mcp/knowledge/answer-size.ts';
import { resourceLimits } from '../mcp/knowledge/list-resources.ts';
import { questionLimits } from '../mcp/knowledge/tool-arguments.ts';
import { documentLimits } from './document-limits.ts';
import { type Limit, refused } from './limit.ts';
import { questionLimits as questionLimitRows } from './question-limits.ts';

const invalid = refused('REQUEST_VALIDATION_ERROR');
const callFails = 'The tool call fails with `REQUEST_VALIDATION_ERROR`.';

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
  waiting_dry_runs: {
    bounds: 'dry runs of records that wait, in one process',
    unit: 'items',
    value: () => queues.dry_runs.waiting,
    above: refused('TOO_MANY_REQUESTS'),
  },
  waiting_documents: {
    bounds: 'documents of `/openwebui/process` and dry runs that wait for an extraction process',
    unit: 'items',
    value: () => queues.extraction.waiting,
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
    value: () => queues.page_pictures.waiting,
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
  ...documentLimits,
} as const satisfies Record<string, Limit>;
