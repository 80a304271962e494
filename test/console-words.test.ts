import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorCodes } from '@quartermaster/contract';
import { en as enOfAll } from '../packages/console/src/language/en.ts';
import * as english from '../packages/console/src/language/en-codes.ts';
import { imports as importsInEnglish } from '../packages/console/src/language/en-imports.ts';
import { explainError } from '../packages/console/src/language/explain-error.ts';
import { applications } from '../packages/console/src/language/zh-applications.ts';
import { audit } from '../packages/console/src/language/zh-audit.ts';
import { codes, fields } from '../packages/console/src/language/zh-codes.ts';
import { documents } from '../packages/console/src/language/zh-documents.ts';
import { imports, risks } from '../packages/console/src/language/zh-imports.ts';
import { integrations } from '../packages/console/src/language/zh-integrations.ts';
import { people } from '../packages/console/src/language/zh-people.ts';
import { permissions } from '../packages/console/src/language/zh-permissions.ts';
import { shell } from '../packages/console/src/language/zh-shell.ts';
import { stores } from '../packages/console/src/language/zh-stores.ts';
import { tools } from '../packages/console/src/language/zh-tools.ts';
import { evaluationWords } from '../packages/console/src/pages/collections/evaluation-words.ts';
import { tableWords } from '../packages/console/src/pages/collections/table-words.ts';
import { connectionWords } from '../packages/console/src/pages/credentials/connection-words.ts';
import { jobWords } from '../packages/console/src/pages/jobs/job-words.ts';
import { overviewWords } from '../packages/console/src/pages/overview/overview-words.ts';
import { passageWords } from '../packages/console/src/pages/record/passage-words.ts';
import { reportWords } from '../packages/console/src/pages/record/report-words.ts';
import { modelWords } from '../packages/console/src/pages/settings/model-words.ts';
import { recordFailureCodes } from '../packages/server/src/stores/collections/records/record-failures.ts';
import {
  droppedReasons,
  type ExtractionReport,
  extractionFailureCodes,
  type OcrReport,
  rowCodes,
} from '../packages/server/src/stores/extraction/extraction.ts';
import { unreadReasons } from '../packages/server/src/stores/extraction/ocr/recognition.ts';

/** The texts of all pages, and those that a page loads itself. */
const en = { ...enOfAll, ...importsInEnglish };
const chinese: Readonly<Record<string, string>> = {
  ...applications,
  ...audit,
  ...documents,
  ...imports,
  ...integrations,
  ...people,
  ...permissions,
  ...shell,
  ...stores,
  ...tools,
};

const parametersOf = (text = '') => [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name]) => name))].sort();

/** Members of a report that are shown with others. */
const unlabelled = { encoding_confidence: true, warnings: true };

test('the Chinese console has a sentence for every error code of the service and for no other', () => {
  const all = [errorCodes, rowCodes, extractionFailureCodes, recordFailureCodes].flatMap((table) => Object.keys(table));
  assert.deepEqual(Object.keys(codes).sort(), all.sort());
  for (const [code, sentence] of Object.entries(codes)) assert.match(sentence, /[。]|\{message\}$/, code);
});

test('a Chinese text has no English sentence, and quotes the message of a document only where that has more than the code', () => {
  const quoting = new Set(['page_refused', 'page_status', 'page_too_large', 'unpacked_limit']);
  for (const table of [rowCodes, extractionFailureCodes, recordFailureCodes]) {
    for (const code of Object.keys(table)) assert.equal(codes[code]?.includes('{message}'), quoting.has(code), code);
  }
  for (const [key, text] of Object.entries({ ...chinese, ...codes, ...fields, ...risks })) {
    assert.doesNotMatch(text.replaceAll(/“[^”]*”/g, ''), /[a-z]+ [a-z]+ [a-z]+/i, key);
  }
});

test('texts that load with their page are in both languages', () => {
  const documents = [evaluationWords, passageWords, reportWords, tableWords];
  for (const words of [connectionWords, jobWords, modelWords, overviewWords, ...documents]) {
    assert.deepEqual(Object.keys(words.en), Object.keys(words.zh));
    for (const text of Object.values(words.zh)) assert.match(text, /\p{Script=Han}/u);
    const parameters = (texts: object) => Object.values(texts).map((text) => parametersOf(text));
    assert.deepEqual(parameters(words.zh), parameters(words.en));
  }
});

test('every member of a parsing report has a label in both languages', () => {
  // The compiler finds a member that is missing here.
  const members: Record<
    Exclude<keyof ExtractionReport | keyof OcrReport | 'embedding', keyof typeof unlabelled>,
    true
  > = {
    ...{ attachments: true, characters: true, dialect: true, dropped: true, embedding: true, encoding: true },
    ...{ engine: true, form_fields: true, format: true, front_matter: true, header: true, headings: true },
    ...{ languages: true, low_confidence_pages: true, mean_confidence: true, milliseconds: true, not_read: true },
    ...{ notes: true, ocr: true, pages: true, pages_without_text: true, parser: true, peak_memory_bytes: true },
    ...{ replaced: true, rows: true, seconds: true, sheets: true, tables: true, title: true },
  };
  const labelled = [
    ...Object.keys(members),
    ...droppedReasons.map((reason) => `dropped.${reason}`),
    ...unreadReasons.map((reason) => `reason.${reason}`),
  ];
  for (const words of Object.values(reportWords)) {
    const missing = labelled.filter((name) => !Object.hasOwn(words, name));
    assert.deepEqual(missing, []);
  }
});

test('the console has its own words for the same fields and for codes of the service in both languages', () => {
  for (const code of Object.keys(english.codes)) assert.ok(Object.hasOwn(codes, code), code);
  assert.deepEqual(Object.keys(english.fields).sort(), Object.keys(fields).sort());
  const words = [english, { codes, fields }];
  const sayings = words.flatMap((language) => Object.values({ ...language.codes, ...language.fields }));
  for (const saying of sayings) assert.doesNotMatch(saying, /body\/|`/);
});

test('an error is said in the words of the console, without paths of the API', () => {
  const error = (code: string, message: string, path = '', found = '') => ({
    ...{ code, message },
    details: [{ path, found, expected: '' }],
  });
  const say = (said: ReturnType<typeof error>) => explainError(said, english);
  const invalid = 'REQUEST_VALIDATION_ERROR';
  assert.equal(say(error(invalid, 'body/url must be an https URL.', 'body/url')), english.fields.url);
  const content = 'a .pdf file whose content is text';
  assert.equal(say(error(invalid, 'body/file must be …', 'body/file', content)), english.fields.content);
  assert.equal(
    say(error(invalid, 'body/chunking/chunk_size must be an integer. query/after is required.', 'body/chunking')),
    'chunk size must be an integer. after is required.',
  );
  assert.equal(say(error('file_encrypted', 'Send it as `password`.')), english.codes.file_encrypted);
  assert.equal(say(error('OTHER', 'Any and/or other message.')), 'Any and/or other message.');
});

test('every text of the console has the same parameters in English and in Chinese', () => {
  assert.deepEqual(Object.keys(chinese).sort(), Object.keys(en).sort());
  for (const [key, text] of Object.entries(en)) assert.deepEqual(parametersOf(chinese[key]), parametersOf(text), key);
});

test('every text of the console is on one of its pages', () => {
  const sources = globSync('packages/console/src/{api,app,components,pages}/**/*.{ts,tsx}').map((path) =>
    readFileSync(path, 'utf8'),
  );
  const used = sources.join('\n');
  const families = [...used.matchAll(/`([a-z]+(?:\.[a-zA-Z]+)*\.)\$\{/g)].map(([, start = '']) => start);
  assert.ok(families.length > 5);
  const unused = Object.keys(en).filter(
    (key) => !used.includes(`'${key}'`) && !families.some((start) => key.startsWith(start)),
  );
  assert.deepEqual(unused, []);
});
