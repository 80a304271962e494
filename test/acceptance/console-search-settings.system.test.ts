import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole } from '../support/console.ts';
import { tabTo, waitForFocus } from '../support/console-keyboard.ts';

interface Subject {
  readonly opened: OpenedConsole;
  readonly rules: string;
  readonly animals: string;
}

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] the settings of a search change its answer, and the URL holds them', async (t: TestContext) => {
  const opened = await openConsole(t);
  const subject = await fillCollections(opened);
  await t.test('[console] a question about two collections shows the order of the service and each collection', () =>
    askBoth(subject),
  );
  await t.test('[console] further results and the neighbours of a result are shown on request', () => readOn(subject));
  await t.test('[console] a score that no result reaches is no good match, and weaker results follow by keyboard', () =>
    raiseThreshold(subject),
  );
  await t.test('[console] an answer says how it was ranked, and that no reranking service is configured', () =>
    readRanking(subject),
  );
  await t.test('[console] axe finds nothing serious in the search settings at 320, 375 and 1280 pixels', () =>
    checkWidths(subject),
  );
  assert.deepEqual(opened.pageErrors, []);
});

async function fillCollections(opened: OpenedConsole): Promise<Subject> {
  const { client } = opened.service;
  const add = async (name: string, content: string) => {
    const { collection_id: id } = await client.collections.create({ name });
    const text_splitter = { type: 'token', chunk_size: 50, chunk_overlap: 0 } as const;
    const { record_id } = await client.records.create(id, { title: name, content, text_splitter });
    assert.equal((await settledRecord(client, id, record_id)).status, 'ready');
    return id;
  };
  const rules = Array.from(
    { length: 12 },
    (_, at) =>
      `Rule ${at} of the reading room says that visitors keep quiet, put every book back on its shelf, leave bags in the lockers, and ask at the desk for help with number ${at}, ${'again and '.repeat(at)}again.`,
  );
  return {
    opened,
    rules: await add('Rules', rules.join('\n')),
    animals: await add('Animals', 'Otters read no book. Otters are quiet visitors of the river.'),
  };
}

const searchUrl = ({ opened: { service }, rules }: Subject, query: Readonly<Record<string, string>>) =>
  `${service.filesUrl}/collections/${rules}?${new URLSearchParams({ tab: 'search', ...query })}`;

const results = ({ opened: { page } }: Subject) => page.locator('li:has(> div button[id^="open-"])');

const announced = ({ opened: { page } }: Subject, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).first().waitFor();

async function askBoth(subject: Subject): Promise<void> {
  const { opened, rules, animals } = subject;
  const { page, service } = opened;
  await page.goto(searchUrl(subject, { q: 'quiet visitors of the river', count: '3' }));
  await announced(subject, '3 results');
  await page.getByText('Search settings').press('Enter');
  await page.getByRole('checkbox', { name: 'Animals' }).press('Space');
  await results(subject).filter({ hasText: 'Otters are quiet visitors' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('in'), animals);
  await page.reload();
  await results(subject).filter({ hasText: 'Otters are quiet visitors' }).waitFor();
  const answer = await fetch(`${service.filesUrl}/v1/chunks/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ collection_ids: [rules, animals], query_text: 'quiet visitors of the river', top_k: 3 }),
  });
  const { data } = (await answer.json()) as { data: Array<{ chunk_id: string; collection_id: string }> }; // the contract
  const openers = await results(subject).locator('button[id^="open-"]').all();
  const shown = await Promise.all(openers.map((opener) => opener.getAttribute('id')));
  assert.deepEqual(
    shown,
    data.map(({ chunk_id }) => `open-${chunk_id}`),
  );
  assert.deepEqual(new Set(data.map(({ collection_id }) => collection_id)), new Set([rules, animals]));
  const region = page.getByRole('region', { name: 'Results of the search' });
  for (const name of ['Rules', 'Animals'])
    await region
      .getByRole('listitem')
      .filter({ hasText: `${name}: Ranked by words.` })
      .waitFor();
}

async function readOn(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  await page.goto(searchUrl(subject, { q: 'book on its shelf', count: '3' }));
  await announced(subject, '3 results');
  const before = await results(subject).allTextContents();
  const more = page.getByRole('button', { name: 'Show more results' });
  await more.press('Enter');
  await announced(subject, '6 results');
  const after = await results(subject).allTextContents();
  assert.deepEqual(after.slice(0, 3), before);
  assert.equal(new Set(await results(subject).locator('button[id^="open-"]').evaluateAll(idsOf)).size, 6);
  await waitForFocus(more);

  await page.getByText('Search settings').press('Enter');
  await page.getByLabel('Neighbouring chunks').selectOption('1');
  await page.getByText('Neighbouring chunk:').first().waitFor();
  assert.equal(new URL(page.url()).searchParams.get('expand'), '1');
}

const idsOf = (elements: readonly unknown[]) => elements.map((one) => (one as { readonly id: string }).id);

async function raiseThreshold(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  await page.goto(searchUrl(subject, { q: 'shelf of whales in Greenland', score: '0.9' }));
  await announced(subject, 'No good match');
  await page.getByText('No chunk reaches the lowest score of 0.9.').waitFor();
  assert.equal(await results(subject).count(), 0);
  await page.getByLabel('Search this collection').focus();
  await tabTo(page, page.getByRole('button', { name: 'Show weaker results' }));
  await page.keyboard.press('Enter');
  await announced(subject, /^No good match \d+ results?$/);
  assert.ok((await results(subject).count()) > 0);
  assert.equal(new URL(page.url()).searchParams.get('score'), null);
}

async function readRanking(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  await page.goto(searchUrl(subject, { q: 'shelf' }));
  const region = page.getByRole('region', { name: 'Results of the search' });
  await region.getByText('Ranked by words. No embedding model is configured.').waitFor();
  await page.getByText('Search settings').press('Enter');
  await page.getByRole('checkbox', { name: /^Sort by the reranking service/ }).press('Space');
  await region.getByText('No reranking service is configured, so the order is that of the search.').waitFor();
  await page.getByLabel('Ranking', { exact: true }).selectOption('Words');
  await region.getByText('Ranked by words. Words alone were asked for.').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('mode'), 'words');
}

async function checkWidths(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  for (const language of ['en', 'zh']) {
    await page.evaluate(`localStorage.setItem('quartermaster-language', '${language}')`);
    for (const [width, height] of language === 'en' ? sizes : sizes.slice(1, 2)) {
      await page.setViewportSize({ width, height });
      await page.goto(searchUrl(subject, { q: 'shelf', in: subject.animals, expand: '1', count: '3' }));
      await results(subject).nth(2).waitFor();
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await findingsInBoth(page), nothing, `${width} px in ${language}`);
      const isCut = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      assert.equal(isCut, false, `${width} px in ${language}`);
    }
  }
}

const sizes = [
  [320, 640],
  [375, 740],
  [1280, 900],
] as const;
