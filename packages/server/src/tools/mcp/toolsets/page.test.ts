import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutPage, toolsPerPage } from './tool-offer.ts';

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `tool_${index}`);

test('the limit mcp_tools_of_page gives exactly as many tools in one page and the next one in another', () => {
  assert.deepEqual(cutPage(namesOf(toolsPerPage), undefined), { names: namesOf(toolsPerPage), next: undefined });
  const first = cutPage(namesOf(toolsPerPage + 1), undefined);
  assert.equal(first?.names.length, toolsPerPage);
  const second = cutPage(namesOf(toolsPerPage + 1), first?.next);
  assert.deepEqual(second, { names: [`tool_${toolsPerPage}`], next: undefined });
});

test('the pages of 3,500 tools hold each once and in order', () => {
  const names = namesOf(3_500);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = cutPage(names, cursor);
    assert.ok(page !== undefined);
    seen.push(...page.names);
    cursor = page.next;
  } while (cursor !== undefined);
  assert.deepEqual(seen, names);
});

test('a cursor of another list, or one that was made up, is unknown', () => {
  const { next } = cutPage(namesOf(500), undefined) ?? {};
  assert.ok(next !== undefined);
  const [digest] = next.split('.');
  assert.equal(cutPage(namesOf(501), next), undefined);
  for (const cursor of ['', 'x', `${digest}.0`, `${digest}.1`, `${digest}.600`, `${digest}.-200`, '400']) {
    assert.equal(cutPage(namesOf(500), cursor), undefined, cursor);
  }
});
