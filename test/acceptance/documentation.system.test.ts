import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsInBoth, findingsInLight, nothing } from '../support/axe.ts';
import { openBrowser } from '../support/browser.ts';
import { startService } from '../support/service.ts';

const widths = [375, 1280];

test('[documented] a running service shows the documentation at /docs: every page that its menu lists opens, and axe finds nothing serious at 320, 375 and 1280 pixels', async (t) => {
  const service = await startService(t);
  const { page, pageErrors } = await openBrowser(t);
  const home = `${service.filesUrl}/docs`;
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(home);
  await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
  const all = await page.evaluate<string[]>(
    "[...document.querySelectorAll('nav li a')].map((one) => new URL(one.href).pathname.slice('/docs'.length))",
  );
  assert.ok(all.length > 40, `${all.length} pages`);
  for (const path of all) {
    await page.goto(home + path);
    assert.notEqual(await page.locator('h1').textContent(), 'Page not found', path);
    await page.setViewportSize({ width: 320, height: 640 });
    const cut = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    assert.ok(!cut, `${path} is wider than 320 pixels`);
  }
  // The parts that differ: tables, code, a long page, an index, tables without headings, a picture.
  for (const path of ['', '/tour', '/guides/mcp', '/reference/limits', '/reference/commands', '/performance']) {
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(home + path);
    assert.deepEqual(await findingsInBoth(page), nothing, path);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(await findingsInLight(page), [], `${path} at ${width}`);
    }
  }
  await page.getByRole('img', { name: /^Median and processor time/ }).waitFor();
  const [width = 0] = await page.evaluate<number[]>('[...document.images].map((one) => one.naturalWidth)');
  assert.ok(width > 0, 'the plot is shown');
  assert.deepEqual(pageErrors, []);
});

test('[documented] the search of the documentation finds a section, an unknown path says so, and links of earlier versions reach the API reference', async (t) => {
  const service = await startService(t);
  const { page, pageErrors } = await openBrowser(t);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${service.pluginsUrl}/docs/guides/mcp`);
  const search = page.getByRole('searchbox', { name: 'Search the documentation' });
  await search.fill('restore a backup postgresql');
  await page
    .getByRole('link', { name: /restore/i })
    .first()
    .click();
  await page.waitForURL(/\/docs\/[\w/-]+(?:#[\w-]+)?$/);
  await search.fill('POST /v1/execute');
  await page
    .getByRole('link', { name: /^POST \/v1\/execute/ })
    .first()
    .click();
  await page.waitForURL(`${service.pluginsUrl}/docs/api#execute`);
  await page.goto(`${service.filesUrl}/docs/api/`);
  await page.getByRole('heading', { level: 1, name: 'Quartermaster: files' }).waitFor();
  await page.goto(`${service.pluginsUrl}/docs/guides/mcp`);
  await search.fill('zzzz qqqq');
  await page.getByText('Nothing found.').waitFor();
  const unknown = await page.goto(`${service.filesUrl}/docs/no/such`);
  assert.equal(unknown?.status(), 404);
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  await page.goto(`${service.filesUrl}/docs#listFiles`);
  await page.waitForURL(`${service.filesUrl}/docs/api#listFiles`);
  await page.getByRole('heading', { level: 1, name: 'Quartermaster: files' }).waitFor();
  assert.deepEqual(pageErrors, []);

  const [script = ''] = /assets\/site-[\w-]+\.js/.exec(await (await fetch(`${service.filesUrl}/docs`)).text()) ?? [];
  const zipped = await fetch(`${service.filesUrl}/${script}`, { headers: { 'Accept-Encoding': 'gzip' } });
  assert.equal(zipped.headers.get('content-encoding'), 'gzip');
  const plain = await fetch(`${service.filesUrl}/${script}`, { headers: { 'Accept-Encoding': 'identity' } });
  assert.equal(plain.headers.get('content-encoding'), null);
  assert.equal(await plain.text(), await zipped.text());
});
