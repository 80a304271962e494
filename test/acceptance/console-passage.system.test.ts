import assert from 'node:assert/strict';
import { test } from 'node:test';
import { account } from '../support/administrator.ts';
import { connectClient } from '../support/client.ts';
import { openConsole } from '../support/console.ts';
import { addDocument, callTool, createKey } from '../support/mcp-knowledge.ts';
import { runCommand } from '../support/run-command.ts';

test('[console] the url of a passage opens its record at the passage, in its project and after a sign-in', async (t) => {
  const { context, page, service, pageErrors } = await openConsole(t);
  await runCommand(service, 'project', 'create', 'library');
  const key = await createKey(service, 'library', 'collections');
  const client = connectClient(service, key);
  // The passage is far below the first page of chunks.
  const lines = Array.from({ length: 900 }, (_, line) =>
    line === 700
      ? 'Otters may borrow ten books.'
      : `Line ${line} of the rules of the house says nothing about animals.`,
  );
  const { recordId } = await addDocument(
    { client },
    {
      title: 'House rules',
      content: lines.join('\n'),
      text_splitter: { type: 'token', chunk_size: 100, chunk_overlap: 0 },
    },
  );
  const { structuredContent } = await callTool(`${service.filesUrl}/mcp`, key, 'search', { query: 'otters borrow' });
  const [{ id, url, text }] = structuredContent.results;
  const chunkId = id.split('/').at(-1);
  assert.match(text, /Otters may borrow/);
  assert.ok(url.startsWith(`${service.filesUrl}/`), url);

  await context.clearCookies();
  await page.evaluate('localStorage.clear()');
  await page.goto(url);
  await page.getByLabel('Name').fill(account.name);
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'House rules' }).waitFor();
  const chosen = page.locator('li[data-chosen]');
  await chosen.waitFor();
  assert.equal(await chosen.getAttribute('id'), chunkId);
  assert.match((await chosen.textContent()) ?? '', /Otters may borrow ten books/);
  // Resolves when the passage is in the visible part of the page.
  const isVisible = await page.evaluate(
    `new Promise((resolve) => {
      new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && resolve(true))
        .observe(document.getElementById('${chunkId}'));
    })`,
  );
  assert.equal(isVisible, true, 'the page is scrolled to the passage');
  assert.ok(page.url().includes(recordId));
  assert.deepEqual(pageErrors, []);
});
