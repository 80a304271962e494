import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDocumentation } from '../../documentation.ts';
import { createSearch } from './search.ts';

const search = createSearch(readDocumentation().pages);

/** Questions of readers, the page or section that answers each, and the last place at which it may stand. */
const questions: ReadonlyArray<readonly [question: string, address: string, place: 1 | 3]> = [
  ['how do I restore a backup?', 'guides/operating#restore', 1],
  ['size of machine', 'guides/faq#how-large-a-machine', 1],
  ['is in use by another process', 'guides/troubleshooting#when-the-service-starts', 1],
  ['QUARTERMASTER_FILES_PORT', 'reference/settings', 1],
  ['api key rotate', 'guides/faq#common-questions', 1],
  ['command not found', 'guides/troubleshooting#when-you-run-a-command', 1],
  ['nginx 413', 'guides/troubleshooting#in-the-browser-and-behind-a-proxy', 1],
  ['upload a file from python', 'guides/python-client', 1],
  ['connect claude', 'guides/mcp#connect-a-client', 3],
  ['Tripadvisor', 'reference/bundles#retired', 1],
  ['github plugin', 'reference/bundles#github', 3],
  ['webhook', 'guides/faq#common-questions', 1],
  ['SSO', 'guides/sign-in', 1],
  ['RBAC', 'guides/people', 1],
  ['uninstall', 'guides/faq#common-questions', 1],
  ['docker', 'guides/deploying#container', 3],
  ['move to postgres', 'guides/moving#from-a-laptop-to-postgresql-and-object-storage', 1],
  ['how do I upgrade to a new version?', 'guides/operating#upgrade', 1],
  ['why is the score so low', 'guides/faq#common-questions', 1],
  ['PROVIDER_RATE_LIMITED', 'reference/errors', 1],
  ['what does OBJECT_NOT_FOUND mean', 'reference/errors', 3],
  ['which file formats can I upload', 'reference/formats', 3],
  ['scanned pdf', 'guides/operating#scanned-pages', 1],
  ['largest file', 'reference/limits', 3],
  ['embeddings with ollama', 'guides/embedding/ollama', 3],
  ['prometheus metrics', 'guides/operating', 1],
  ['import an openapi document', 'guides/importing', 1],
  ['write a plugin without code', 'guides/bundles#a-plugin-without-code', 1],
  ['does it call home', 'guides/faq#common-questions', 1],
  ['forgot password', 'guides/faq#common-questions', 3],
  ['delete a project', 'guides/operating#delete-a-project', 1],
  ['change the embedding model', 'guides/embedding#change-the-model', 1],
  ['No Quartermaster store found', 'guides/troubleshooting#when-you-run-a-command', 1],
  ['tesseract', 'guides/operating#scanned-pages', 1],
  ['good_match', 'guides/search#questions', 3],
  ['csv columns', 'reference/sheets', 1],
  ['uplod', 'guides/typescript-client', 3],
  ['chat with citations', 'examples', 3],
  ['EADDRINUSE', 'guides/troubleshooting#when-the-service-starts', 1],
  ['reranker', 'guides/embedding#reranking', 1],
  ['lost encryption key', 'reference/secrets#a-lost-key', 1],
  ['how much memory does it need', 'guides/faq#how-large-a-machine', 3],
];

for (const [question, address, place] of questions) {
  test(`the search finds ${address} for "${question}" ${place === 1 ? 'first' : `among the first ${place}`}`, () => {
    const found = search(question).map((one) => one.address);
    const at = found.findIndex((one) => one === address || one.startsWith(`${address}#`));
    assert.ok(at >= 0 && at < place, `found ${found.slice(0, 5).join(', ')}`);
  });
}

test('the search finds nothing for words that no page has', () => {
  assert.deepEqual(search('zzzz qqqq'), []);
});
