import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linksIn } from './links-in.ts';

test('the links of a text are its addresses without the punctuation of the sentence', () => {
  const text =
    'Bot token of an app (https://api.slack.com/apps), see https://serper.dev/api-key. Again: https://serper.dev/api-key';
  assert.deepEqual(linksIn(text), ['https://api.slack.com/apps', 'https://serper.dev/api-key']);
});

test('an address with a placeholder, another scheme or no host is no link', () => {
  const text =
    'https://YOUR-SITE.atlassian.net/_edge/tenant_info http://example.com javascript:alert(1) https:// https://user@example.com/';
  assert.deepEqual(linksIn(text), []);
});
