import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole } from '../support/console.ts';
import { waitForFocus } from '../support/console-keyboard.ts';

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] screen readers get the language of texts and the purpose of buttons', async (t: TestContext) => {
  const opened = await openConsole(t);
  await t.test('[console] the copy buttons of the API reference have different names, and copying is announced', () =>
    copyExamples(opened),
  );
  await t.test('[console] the API reference skips to its content, and its English text says so in Chinese', () =>
    skipReference(opened),
  );
  await t.test('[console] passages in other scripts have their language', () => readPassages(opened));
  assert.deepEqual(opened.pageErrors, []);
});

/** An element of the page, whose types are not those of Node.js. */
interface Named {
  getAttribute(name: string): string | null;
}

async function copyExamples({ page, context, service }: OpenedConsole): Promise<void> {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${service.filesUrl}/docs/api`);
  const buttons = page.locator('button.copy');
  await buttons.first().waitFor();
  const names = await buttons.evaluateAll((all) =>
    all.map((one) => (one as unknown as Named).getAttribute('aria-label')),
  );
  assert.ok(names.length > 40, `${names.length} buttons`);
  assert.equal(new Set(names).size, names.length, 'no two buttons have one name');
  const [first = ''] = names;
  assert.match(first ?? '', /^Copy: [A-Z]+ \//);
  const code = await page.locator('.sample pre').first().textContent();
  await buttons.first().press('Enter');
  await page
    .getByRole('status')
    .filter({ hasText: /^Copied: / })
    .waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), code);
}

async function skipReference({ page, service }: OpenedConsole): Promise<void> {
  await page.evaluate("localStorage.setItem('quartermaster-language', 'zh')");
  await page.goto(`${service.filesUrl}/docs/api`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Tab');
  await waitForFocus(page.getByRole('link', { name: '跳到内容' }));
  await page.keyboard.press('Enter');
  await waitForFocus(page.locator('main'));
  const languageOf = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((one) => (one as unknown as { closest(s: string): Named }).closest('[lang]').getAttribute('lang'));
  assert.equal(await languageOf('html'), 'zh');
  assert.equal(await languageOf('main article p'), 'en');
  assert.equal(await languageOf('main h4'), 'zh');
  assert.equal(await languageOf('button.copy'), 'zh');
  assert.deepEqual(await findingsInBoth(page), nothing);
  await page.evaluate("localStorage.setItem('quartermaster-language', 'en')");
}

async function readPassages({ page, service }: OpenedConsole): Promise<void> {
  const { client } = service;
  const { collection_id: id } = await client.collections.create({ name: 'Rights' });
  // The first article of the Universal Declaration of Human Rights.
  const passages = {
    zh: '人人生而自由，在尊严和权利上一律平等。 UDHR',
    ja: 'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。 UDHR',
    ru: 'Все люди рождаются свободными и равными в своем достоинстве и правах. UDHR',
    '': 'Alle Menschen sind frei und gleich an Würde und Rechten geboren. UDHR',
  };
  for (const [language, content] of Object.entries(passages)) {
    const { record_id } = await client.records.create(id, { title: `Article ${language}`, content });
    await settledRecord(client, id, record_id);
  }
  await page.goto(`${service.filesUrl}/collections/${id}?tab=search&q=UDHR`);
  for (const [language, content] of Object.entries(passages)) {
    const passage = page
      .locator('[lang]')
      .filter({ hasText: content.slice(0, 12) })
      .last();
    await passage.waitFor();
    assert.equal(await passage.getAttribute('lang'), language, content);
  }
  assert.deepEqual(await findingsInBoth(page), nothing);
}
