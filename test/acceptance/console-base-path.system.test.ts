import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { startBelowAPath } from '../support/below-a-path.ts';
import { openBrowser } from '../support/browser.ts';
import { dropFiles, type OpenedConsole, openPage, setUpInPages } from '../support/console.ts';
import { callTool } from '../support/mcp-knowledge.ts';
import { writeHandbook } from '../support/sample-handbook.ts';

test('[base path] in a browser: setup link, upload, record, search, passage, plugin, picture, reference, sign-out', async (t) => {
  const { service, origin } = await startBelowAPath(t, 'nginx');
  const opened: OpenedConsole = { ...(await openBrowser(t)), service };
  const { page, context, pageErrors } = opened;
  const requested = new Set<string>();
  context.on('request', (request) => requested.add(request.url()));
  const link = (await readFile(join(service.folder, 'setup-link'), 'utf8')).trim();
  assert.ok(link.startsWith(`${service.filesUrl}/setup#`), link);
  await setUpInPages(opened);

  await addDocument(t, opened);
  await openPassage(opened);
  await runPlugins(opened);

  await page.goto(`${service.filesUrl}/docs/api`);
  await page.getByRole('heading', { level: 1, name: 'Quartermaster: files' }).waitFor();
  await page.getByRole('link', { name: 'Quartermaster · Console' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

  await page.evaluate('localStorage.setItem("neighbour", "1")');
  const [session] = await context.cookies();
  assert.equal(session?.path, '/quartermaster/');
  await openPage(opened, 'Runs');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${service.filesUrl}/`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  const kept = (await page.evaluate('Object.keys(localStorage)')) as string[];
  assert.ok(kept.includes('neighbour') && !kept.some((name) => /token|project/.test(name)), kept.join(' '));

  const outside = [...requested].filter(
    (url) => !url.startsWith(`${origin}/quartermaster`) && !url.startsWith('blob:'),
  );
  assert.deepEqual(outside, []);
  assert.deepEqual(pageErrors, []);
});

async function addDocument(t: { after(end: () => unknown): void }, opened: OpenedConsole): Promise<void> {
  const { page } = opened;
  const { paths, remove } = await writeHandbook();
  t.after(remove);
  const path = paths.find((one) => one.endsWith('.md')) ?? '';
  const name = basename(path);
  await openPage(opened, 'Files');
  await dropFiles(opened, [path]);
  await page.locator(`[data-name="${name}"][data-state="done"]`).waitFor();
  await openPage(opened, 'Collections');
  await page.getByRole('button', { name: 'New collection' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Handbooks');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByRole('button', { name: 'Add documents' }).click();
  await page.getByRole('checkbox', { name: new RegExp(`^${name}`) }).check();
  await page.getByRole('button', { name: 'Add 1 document' }).click();
  await page.locator(`[data-record="${name}"] [data-status="ready"]`).waitFor();
  // The proxy and the service know the path of each page, so that a reload and a bookmark work.
  await page.reload();
  await page.getByRole('tab', { name: 'Search' }).click();
  await page.getByLabel('Search this collection').fill('How does one pronounce Quartermaster?');
  await page.getByRole('button', { name: 'Search' }).click();
  const best = page.getByRole('listitem').filter({ hasText: 'Why this result' }).first();
  await best.getByRole('link', { name: 'Open in document' }).click();
  await page.locator('li[data-chosen]').waitFor();
}

async function openPassage({ page, service }: OpenedConsole): Promise<void> {
  const { structuredContent } = await callTool(`${service.pluginsUrl}/mcp`, service.key, 'search', {
    query: 'How does one pronounce Quartermaster?',
  });
  const [{ url, id }] = structuredContent.results;
  assert.ok(url.startsWith(`${service.filesUrl}/collections/`), url);
  await page.goto(url);
  const chosen = page.locator('li[data-chosen]');
  await chosen.waitFor();
  assert.equal(await chosen.getAttribute('id'), id.split('/').at(-1));
}

async function runPlugins(opened: OpenedConsole): Promise<void> {
  const { page, service } = opened;
  await openPage(opened, 'Catalogue');
  await page.getByLabel('Search bundles and plugins').fill('QR code');
  await page.getByRole('link', { name: /^Generate QR code/ }).click();
  await page.getByLabel('text').waitFor();
  await page.locator('img').nth(1).waitFor();
  // The icon of the bundle and the logo are pictures that the page loads through the proxy.
  const pictures = 'Promise.all([...document.images].map((image) => image.decode().then(() => image.naturalWidth)))';
  const widths = (await page.evaluate(pictures)) as number[];
  assert.ok(widths.length >= 2 && widths.every((width) => width > 0), widths.join(' '));
  await page.getByLabel('text').fill('quartermaster');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByTestId('result-tree').getByText('data:image/png').first().waitFor();
  const curl = (await page.getByRole('tabpanel', { name: 'curl' }).textContent()) ?? '';
  assert.ok(curl.includes(`${service.filesUrl}/plugins/v1/execute`), curl);
  await page.getByRole('tab', { name: 'MCP' }).click();
  const mcp = (await page.getByRole('tabpanel', { name: 'MCP' }).textContent()) ?? '';
  assert.ok(mcp.includes(`${service.pluginsUrl}/mcp/qr_code_generator`), mcp);
  await page.getByRole('link', { name: 'View run' }).click();
  await page.getByRole('heading', { name: 'qr_code_generator/generate_qr_code' }).waitFor();
}
