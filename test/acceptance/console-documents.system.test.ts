import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { findingsInBoth, findingsInLight, nothing } from '../support/axe.ts';
import { settledRecord } from '../support/client.ts';
import { type OpenedConsole, openConsole } from '../support/console.ts';
import { tabTo, waitForFocus } from '../support/console-keyboard.ts';
import { wordDocument } from '../support/sample-office.ts';
import { placedPdf } from '../support/sample-pdf.ts';

interface Subject {
  readonly opened: OpenedConsole;
  readonly collection: string;
  readonly pairs: string;
  /** Ids of records. */
  readonly records: Readonly<Record<'pdf' | 'word' | 'sheet', string>>;
}

/** All steps share one service and one browser, because starting them takes longer than the checks. */
test('[console] documents are shown beside their passages', async (t: TestContext) => {
  const opened = await openConsole(t);
  const subject = await addDocuments(opened);
  await t.test('[console] the page of a PDF document is shown with the passage boxed where its words are', () =>
    lookAtPage(subject),
  );
  await t.test('[console] the extracted text is shown with the passage marked and scrolled to', () =>
    lookAtText(subject),
  );
  await t.test('[console] the rows of a sheet are shown around the pair', () => lookAtRows(subject));
  await t.test('[console] passages are followed into their document with the keyboard alone', () =>
    readByKeyboard(subject),
  );
  await t.test('[console] axe finds nothing serious beside a document at 320, 375 and 1280 pixels', () =>
    checkWidths(subject),
  );
  await t.test('[console] deleted and unfinished documents and passages have a message', () => lookAtMissing(subject));
  assert.deepEqual(opened.pageErrors, []);
});

const lines = (first: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${first} ${at} says nothing about animals that live in rivers.`);

/** A page of 600 × 800 points; the otters are 300 points from its top and 60 from its left edge. */
const pages = [
  lines('Paragraph', 8).map((text, at) => ({ text, x: 50, y: 740 - at * 16 })),
  [
    ...lines('Line', 6).map((text, at) => ({ text, x: 50, y: 740 - at * 16 })),
    { text: 'Otters may borrow ten books for four weeks.', x: 60, y: 500 },
    ...lines('Footer', 6).map((text, at) => ({ text, x: 50, y: 300 - at * 16 })),
  ],
];
const splitter = { type: 'token', chunk_size: 50, chunk_overlap: 0 } as const;

async function addDocuments(opened: OpenedConsole): Promise<Subject> {
  const { client } = opened.service;
  const { collection_id: collection } = await client.collections.create({ name: 'Rules' });
  const { collection_id: pairs } = await client.collections.create({ name: 'FAQ', type: 'qa' });
  const add = async (into: string, name: string, content: Buffer) => {
    const purpose = into === pairs ? 'qa_record_file' : 'record_file';
    const { file_id } = await client.files.upload(new Blob([new Uint8Array(content)]), { purpose, name });
    const more = into === pairs ? { type: 'qa_sheet' as const } : { type: 'file' as const, text_splitter: splitter };
    const { record_id } = await client.records.create(into, { ...more, file_id });
    assert.equal((await settledRecord(client, into, record_id)).status, 'ready', name);
    return record_id;
  };
  const questions = Array.from({ length: 30 }, (_, at) => `Question ${at}?,Answer ${at}.`);
  const long = [...lines('Rule', 200), 'Otters may borrow ten books.', ...lines('Annex', 200)];
  return {
    opened,
    collection,
    pairs,
    records: {
      pdf: await add(collection, 'rules.pdf', placedPdf(pages)),
      word: await add(collection, 'house.docx', wordDocument(['# House rules', ...long])),
      sheet: await add(pairs, 'faq.csv', Buffer.from(['question,answer', ...questions].join('\n'))),
    },
  };
}

/** The URL of a record, and the id of its chunk with a text. */
async function find({ opened: { service } }: Subject, at: readonly [string, string], text: string) {
  const [collection, record] = at;
  const url = `${service.filesUrl}/v1/collections/${collection}/records/${record}/chunks?limit=100&order=asc`;
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } });
  const { data } = (await answer.json()) as { data: Array<{ chunk_id: string; content: string }> }; // the contract
  const id = data.find(({ content }) => content.includes(text))?.chunk_id;
  assert.ok(id, `a chunk of the record has the text ${text}`);
  return { id, url: `${service.filesUrl}/collections/${collection}/records/${record}` };
}

const panelOf = (page: Page, name: string) => page.getByRole('region', { name: `Document: ${name}` });
const status = (panel: Locator, text: string | RegExp) => panel.getByRole('status').filter({ hasText: text }).waitFor();

/** Waits until a picture has pixels. */
async function waitForPicture(picture: Locator): Promise<void> {
  await picture.waitFor();
  await picture.evaluate((image) => (image as unknown as { decode(): Promise<void> }).decode());
}

async function lookAtPage(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  const { id, url } = await find(subject, [subject.collection, subject.records.pdf], 'Otters');
  await page.goto(`${url}#${id}`);
  const panel = panelOf(page, 'rules.pdf');
  await status(panel, 'Page 2 of 2. The passage is marked.');
  const picture = panel.getByRole('img', { name: /^Page 2 of rules\.pdf/ });
  await waitForPicture(picture);
  const whole = await picture.boundingBox();
  assert.ok(whole !== null && whole.width > 300);
  const scale = whole.width / 600;
  // The baseline of the line begins 60 points from the left and 300 points from the top of the page.
  const [x, y] = [whole.x + 62 * scale, whole.y + 297 * scale];
  const boxes = await Promise.all((await panel.locator('[data-mark]').all()).map((box) => box.boundingBox()));
  const around = boxes.filter((box) => box !== null && box.x < x && x < box.x + box.width);
  assert.ok(
    around.some((box) => box !== null && box.y < y && y < box.y + box.height),
    `no box of ${JSON.stringify(boxes)} is around ${x}, ${y}`,
  );

  await panel.getByRole('button', { name: 'Previous page' }).click();
  await status(panel, 'Page 1 of 2. The passage is on another page.');
  assert.match(page.url(), new RegExp(`page=1#${id}$`));
  await page.reload();
  await status(panel, 'Page 1 of 2.');
  await waitForPicture(panel.getByRole('img', { name: /^Page 1 of rules\.pdf/ }));
  assert.equal(await panel.getByRole('button', { name: 'Previous page' }).isDisabled(), true);
  await panel.getByRole('button', { name: 'Back to page 2' }).click();
  await status(panel, 'Page 2 of 2. The passage is marked.');
  await panel.getByText('Extracted text', { exact: true }).click();
  await status(panel, 'The passage is marked in the extracted text.');
  assert.match(page.url(), /view=text/);
  assert.match((await panel.locator('mark').textContent()) ?? '', /Otters may borrow ten books for four weeks\./);
}

async function lookAtText(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  const { id, url } = await find(subject, [subject.collection, subject.records.word], 'Otters');
  await page.goto(`${url}#${id}`);
  const panel = panelOf(page, 'house.docx');
  await status(panel, 'The passage is marked in the extracted text.');
  const mark = panel.locator('mark');
  assert.match((await mark.textContent()) ?? '', /Otters may borrow ten books\./);
  // Resolves when the mark is in the visible part of its box.
  const isVisible = await mark.evaluate(
    (element) =>
      new Promise((resolve) => {
        type Entries = readonly { readonly isIntersecting: boolean }[];
        const Observer = (
          globalThis as unknown as {
            IntersectionObserver: new (f: (e: Entries) => void) => { observe(e: unknown): void };
          }
        ).IntersectionObserver;
        new Observer((entries) => entries.some((entry) => entry.isIntersecting) && resolve(true)).observe(element);
      }),
  );
  assert.equal(isVisible, true, 'the passage is scrolled to');
  const text = panel.getByRole('region', { name: 'Extracted text' });
  assert.equal((await text.textContent())?.includes('House rules'), false);
  const earlier = panel.getByRole('button', { name: 'Show earlier text' });
  for (let steps = 0; steps < 10 && (await earlier.count()) > 0; steps += 1) {
    const before = (await text.textContent())?.length ?? 0;
    await earlier.click();
    for (let looks = 0; looks < 600 && ((await text.textContent())?.length ?? 0) <= before; looks += 1)
      await page.waitForTimeout(50);
  }
  const shown = (await text.textContent()) ?? '';
  for (let at = 0; at < 200; at += 1) assert.equal(shown.split(`Rule ${at} says`).length, 2, `rule ${at} stands once`);
  assert.match((await mark.textContent()) ?? '', /Otters may borrow ten books\./);
}

async function lookAtRows(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  const { id, url } = await find(subject, [subject.pairs, subject.records.sheet], 'Question 17?');
  await page.goto(`${url}#${id}`);
  const panel = panelOf(page, 'faq.csv');
  await status(panel, 'The row of the passage is marked.');
  const rows = panel.getByRole('row');
  const numbers = await rows.evaluateAll((all) =>
    all.slice(1).map((row) => (row as unknown as { cells: { textContent: string }[] }).cells[0]?.textContent),
  );
  // The first line is the header, so question 17 is in line 19.
  assert.deepEqual(numbers, ['16', '17', '18', '19', '20', '21', '22']);
  const chosen = panel.locator('tr[aria-current]');
  assert.match((await chosen.textContent()) ?? '', /A19\s*Question 17\?B19\s*Answer 17\./);
}

async function readByKeyboard(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  const { id, url } = await find(subject, [subject.collection, subject.records.pdf], 'Otters');
  await page.goto(url);
  const panel = panelOf(page, 'rules.pdf');
  await status(panel, 'Page 1 of 2.');
  const link = page.locator(`[id="${id}"] a`);
  assert.match((await link.getAttribute('aria-label')) ?? '', /^Show in document: Page 2/);
  await page.getByRole('heading', { level: 1 }).focus();
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await waitForFocus(panel.getByRole('heading', { name: 'Document: rules.pdf' }));
  await status(panel, 'Page 2 of 2. The passage is marked.');
  assert.ok(page.url().endsWith(`#${id}`));
  const current = page.locator('li a[aria-current]');
  assert.deepEqual([await current.count(), await current.getAttribute('href')], [1, await link.getAttribute('href')]);
  await page.keyboard.press('Escape');
  await waitForFocus(link);
  await page.keyboard.press('Enter');
  await waitForFocus(panel.getByRole('heading', { name: 'Document: rules.pdf' }));
  await tabTo(page, panel.getByRole('button', { name: 'Back to the chunk' }));
  await page.keyboard.press('Enter');
  await waitForFocus(link);
}

const widths = [
  { width: 320, height: 640 },
  { width: 375, height: 740 },
  { width: 1280, height: 900 },
] as const;

/** Each document is loaded in the smallest window, which then grows. Its colours do not depend on the width. */
async function checkWidths(subject: Subject): Promise<void> {
  const { page } = subject.opened;
  const places = await Promise.all([
    find(subject, [subject.collection, subject.records.pdf], 'Otters'),
    find(subject, [subject.collection, subject.records.word], 'Otters'),
    find(subject, [subject.pairs, subject.records.sheet], 'Question 17?'),
  ]);
  for (const language of ['en', 'zh']) {
    await page.evaluate(`localStorage.setItem('quartermaster-language', '${language}')`);
    // In the other language, only the words differ.
    for (const { id, url } of language === 'en' ? places : places.slice(0, 1)) {
      await page.setViewportSize(widths[0]);
      await page.goto(`${url}#${id}`);
      await page.locator('[data-mark]').first().waitFor();
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await findingsInBoth(page), nothing, `${url} in ${language}`);
      for (const size of widths) {
        await page.setViewportSize(size);
        if (size !== widths[0]) assert.deepEqual(await findingsInLight(page), [], `${url} at ${size.width} px`);
        const isCut = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
        assert.equal(isCut, false, `${url} at ${size.width} px in ${language}`);
      }
    }
  }
  await page.evaluate("localStorage.setItem('quartermaster-language', 'en')");
}

async function lookAtMissing(subject: Subject): Promise<void> {
  const { page, service } = subject.opened;
  const { id, url } = await find(subject, [subject.collection, subject.records.pdf], 'Otters');
  const record = await service.client.records.get(subject.collection, subject.records.pdf);
  // How long a document is being processed depends on the machine, so the page gets an answer of that time.
  const creating = { ...record, status: 'creating', progress: { stage: 'parsing', percent: 10, attempt: 1 } };
  const records = `**/v1/collections/*/records/${record.record_id}`;
  await page.route(records, (route) => route.fulfill({ json: { status: 'success', data: creating } }));
  await page.goto(`${url}#${id}`);
  const panel = panelOf(page, 'rules.pdf');
  await status(panel, 'This document is being processed.');
  await page.unroute(records);
  await status(panel, 'Page 2 of 2. The passage is marked.');

  await page.goto(`${url}#no-such-chunk`);
  await page.getByRole('status').filter({ hasText: 'The linked passage no longer exists.' }).waitFor();
  await status(panel, 'Page 1 of 2.');

  const { file_id } = JSON.parse(record.content) as { file_id: string }; // the contract of `content`
  await service.client.files.delete(file_id);
  await page.goto(`${url}#${id}`);
  await status(panel, 'The file was deleted, so its pages cannot be shown.');
  await status(panel, 'The passage is marked in the extracted text.');
  assert.match((await panel.locator('mark').textContent()) ?? '', /Otters may borrow ten books/);

  await service.client.records.delete(subject.collection, record.record_id);
  await page.goto(url);
  await page.getByRole('heading', { level: 1, name: 'This document does not exist' }).waitFor();
  await page.getByRole('link', { name: 'Documents' }).click();
  await page.locator('[data-record="house.docx"]').waitFor();
}
