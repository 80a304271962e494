import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readDocumentation } from '../../documentation.ts';
import { type ApiDocument, operationsOf } from '../reference/document.ts';
import { createSearch } from './search.ts';

const reference = new URL('../../../../docs/reference/openapi-files.json', import.meta.url);
const api = JSON.parse(await readFile(reference, 'utf8')) as ApiDocument; // `npm run reference` writes it
const search = createSearch(readDocumentation().pages, operationsOf(api));

/** Questions of readers, and the page or section that answers each. */
const questions: ReadonlyArray<readonly [question: string, address: string]> = [
  ['how do I restore a backup?', 'guides/operating#restore'],
  ['size of machine', 'guides/faq#how-large-a-machine'],
  ['is in use by another process', 'guides/troubleshooting#when-the-service-starts'],
  ['QUARTERMASTER_FILES_PORT', 'reference/settings'],
  ['api key rotate', 'guides/faq#common-questions'],
  ['command not found', 'guides/troubleshooting#when-you-run-a-command'],
  ['nginx 413', 'guides/troubleshooting#in-the-browser-and-behind-a-proxy'],
  ['upload a file from python', 'guides/python-client'],
  ['connect claude', 'guides/mcp#connect-a-client'],
  ['Tripadvisor', 'reference/bundles#retired'],
  ['github plugin', 'reference/bundles#github'],
  ['webhook', 'guides/faq#common-questions'],
  ['SSO', 'guides/sign-in'],
  ['RBAC', 'guides/people'],
  ['uninstall', 'guides/faq#common-questions'],
  ['docker', 'guides/deploying#container'],
  ['move to postgres', 'guides/moving#from-a-laptop-to-postgresql-and-object-storage'],
  ['how do I upgrade to a new version?', 'guides/operating#upgrade'],
  ['why is the score so low', 'guides/faq#common-questions'],
  ['PROVIDER_RATE_LIMITED', 'reference/errors'],
  ['what does OBJECT_NOT_FOUND mean', 'reference/errors'],
  ['which file formats can I upload', 'reference/formats'],
  ['scanned pdf', 'guides/operating#scanned-pages'],
  ['largest file', 'reference/limits'],
  ['embeddings with ollama', 'guides/embedding/ollama'],
  ['prometheus metrics', 'guides/operating'],
  ['import an openapi document', 'guides/importing'],
  ['write a plugin without code', 'guides/bundles#a-plugin-without-code'],
  ['does it call home', 'guides/faq#common-questions'],
  ['forgot password', 'guides/faq#common-questions'],
  ['delete a project', 'guides/operating#delete-a-project'],
  ['change the embedding model', 'guides/embedding#change-the-model'],
  ['No Quartermaster store found', 'guides/troubleshooting#when-you-run-a-command'],
  ['tesseract', 'guides/operating#scanned-pages'],
  ['good_match', 'guides/search#questions'],
  ['csv columns', 'reference/sheets'],
  ['uplod', 'guides/typescript-client'],
  ['chat with citations', 'examples'],
  ['EADDRINUSE', 'guides/troubleshooting#when-the-service-starts'],
  ['reranker', 'guides/embedding#reranking'],
  ['lost encryption key', 'reference/secrets#a-lost-key'],
  ['how much memory does it need', 'guides/faq#how-large-a-machine'],
];

function placeOf(question: string, address: string): number {
  const found = search(question).map((one) => one.address);
  return 1 + found.findIndex((one) => one === address || one.startsWith(`${address}#`));
}

for (const [question, address] of questions) {
  test(`the search finds ${address} for "${question}" among the first three`, () => {
    const place = placeOf(question, address);
    assert.ok(place >= 1 && place <= 3, `place ${place}`);
  });
}

test('for the first four and three quarters of all questions of readers, the search finds the answer first', () => {
  const places = questions.slice(0, 4).map(([question, address]) => placeOf(question, address));
  assert.deepEqual(places, [1, 1, 1, 1]);
  const others = questions.filter(([question, address]) => placeOf(question, address) !== 1);
  assert.ok(others.length <= questions.length / 4, others.join('; '));
});

test('an operation that the question names is first, and others follow the best sections', () => {
  const named = [
    ['POST /v1/files', 'api#uploadFile'],
    ['/v1/collections/{collection_id}/chunks', 'api#listChunks'],
    ['Upload a file', 'api#uploadFile'],
    ['listAuditEvents', 'api#listAuditEvents'],
  ] as const;
  for (const [question, address] of named) assert.equal(placeOf(question, address), 1, question);
  assert.deepEqual([4, 5, 6].includes(placeOf('list chunks', 'api#listChunks')), true);
  const [first] = search('POST /v1/files');
  assert.deepEqual([first?.title, first?.page], ['POST /v1/files', 'API reference · Upload a file']);
});

test('the search finds nothing for words that no page has', () => {
  assert.deepEqual(search('zzzz qqqq'), []);
});
