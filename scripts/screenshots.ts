// Takes screenshots of the console. It starts its own service with a few documents and runs, and Chromium. `npm run script --
// screenshots` takes those in docs/screenshots again. `npm run script -- screenshots FOLDER [PAGE…]` takes all or the named
// pages in every width, colour scheme and language. Chinese needs a font, such as that of fonts-noto-cjk.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { openConsole } from '../test/support/console.ts';
import { fillForPictures, type Pictured } from '../test/support/console-pictures.ts';

const folder = resolve(process.argv[2] ?? 'docs/screenshots');
/** The screenshots to take again; undefined: all. */
const files = process.argv[2] === undefined ? new Set(await readdir(folder)) : undefined;
const widths = { 360: 740, 1280: 800, 1920: 1080 } as const;
const wanted = process.argv.slice(3);

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Prepares the page for the screenshot. */
  readonly prepare?: (page: Page) => Promise<void>;
}

function shotsOf({ collectionId, sheetCollectionId, recordId, sheetRecordId, runId }: Pictured): readonly Shot[] {
  return [
    { name: 'overview', path: '/', prepare: waitForCurve },
    { name: 'files', path: '/files' },
    { name: 'collections', path: '/collections' },
    { name: 'records', path: `/collections/${collectionId}` },
    { name: 'ask', path: `/collections/${collectionId}`, prepare: askSomething },
    { name: 'record', path: `/collections/${collectionId}/records/${recordId}` },
    { name: 'rows', path: `/collections/${sheetCollectionId}/records/${sheetRecordId}` },
    { name: 'catalogue', path: '/catalogue' },
    { name: 'try', path: '/catalogue/calculator/evaluate', prepare: tryIt },
    { name: 'runs', path: '/runs' },
    { name: 'run', path: `/runs/${runId}` },
    { name: 'credentials', path: '/credentials' },
    { name: 'applications', path: '/applications' },
    { name: 'audit', path: '/audit' },
    { name: 'settings', path: '/settings' },
    { name: 'reference', path: '/docs/api' },
  ];
}

async function waitForCurve(page: Page): Promise<void> {
  const points = '/html/body//*[local-name()="polyline"][contains(@points, " ")]';
  await page.locator(`xpath=${points}`).first().waitFor();
}

async function askSomething(page: Page): Promise<void> {
  await page.getByRole('tab').nth(1).click();
  const isChinese = (await page.locator('html').getAttribute('lang')) === 'zh';
  const [question, answer] = isChinese
    ? ['丢失借书卡怎么办？', '丢失借书卡请到服务台挂失']
    : ['What does a new card cost?', 'A new card costs five euros'];
  await page.locator('form input').first().fill(question);
  await page.locator('form button[type=submit]').click();
  const found = page.locator('ol > li, ul > li').filter({ hasText: answer }).first();
  await found.waitFor();
  // Asks again until the answer takes less than 30 ms: other programs of the machine delay some.
  const isFast = () =>
    page.evaluate<boolean>("/ [12]?\\d(\\.\\d+)? ms/.test(document.querySelector('section p').textContent)");
  for (let times = 0; times < 40 && !(await isFast()); times += 1) {
    const asked = page.waitForResponse(/chunks\/query$/);
    await page.locator('form button[type=submit]').click();
    await asked;
    await found.waitFor();
  }
  await page.locator('button[id^="open-"]').first().click();
  await page.locator('[data-mark]').first().waitFor();
  await page.evaluate("scrollTo(0, document.querySelector('form').getBoundingClientRect().top + scrollY - 70)");
}

async function tryIt(page: Page): Promise<void> {
  await page.getByLabel('expression').fill('5**2+8/2-3');
  await page.locator('form button[type=submit]').click();
  await page.getByTestId('result-tree').waitFor();
}

const whenStill =
  'Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))';

const ends: Array<() => unknown> = [];
const t = { after: (end: () => unknown) => ends.push(end) };
try {
  const { service, page, context } = await openConsole(t, {
    settings: { SEALING_KEY: Buffer.alloc(32, 7).toString('base64url') },
  });
  const shots = shotsOf(await fillForPictures(service));
  const session = await context.newCDPSession(page);
  await mkdir(folder, { recursive: true });
  for (const language of ['en', 'zh']) {
    await page.evaluate(`localStorage.setItem('quartermaster-language', '${language}')`);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      for (const [width, height] of Object.entries(widths)) {
        await page.setViewportSize({ width: Number(width), height });
        for (const { name, path, prepare } of shots) {
          if (wanted.length > 0 && !wanted.includes(name)) continue;
          const file = `${name}-${width}-${scheme}-${language}.webp`;
          if (files?.has(file) === false) continue;
          await page.goto(service.filesUrl + path);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await page.waitForLoadState('networkidle');
          await prepare?.(page);
          await page.evaluate(whenStill);
          const shot = { format: 'webp', quality: 26 } as const;
          const { data } = await session.send('Page.captureScreenshot', shot);
          await writeFile(join(folder, file), Buffer.from(data, 'base64'));
        }
      }
    }
  }
} finally {
  for (const end of ends.reverse()) await end();
}
