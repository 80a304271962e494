import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { account } from '../test/support/administrator.ts';
import { openBrowser } from '../test/support/browser.ts';
import { multiplyBundles } from './multiply-bundles.ts';
import { loopDelay, residentMemory, type Service, startService } from './processes.ts';
import type { Row } from './table.ts';

const files = 10_000;
const atOnce = 16;
const bars = { interactiveMs: 1_500, frameMs: 1_000, searchMs: 1_000 };

/**
 * Measures the console in Chromium: the time until it is usable, and how smoothly lists of 10,000 files and 1,000
 * plugins scroll.
 */
export async function consoleBenches(folder: string): Promise<Row[]> {
  const bundles = join(folder, 'bundles');
  await mkdir(bundles, { recursive: true });
  const plugins = await multiplyBundles(bundles);
  const data = join(folder, 'data');
  const service = await startService(data, { QUARTERMASTER_BUNDLES: bundles, QUARTERMASTER_LOG_LEVEL: 'warn' });
  const ends: Array<() => unknown> = [service.stop];
  try {
    await uploadMany(service);
    const { page, browser } = await openBrowser({ after: (end) => ends.push(end) });
    const link = (await readFile(join(data, 'setup-link'), 'utf8')).trim();
    await signIn(page, link);
    const state = await page.context().storageState();
    const cold = await (await browser.newContext({ storageState: state })).newPage();
    const began = performance.now();
    await cold.goto(`${service.filesUrl}/files`);
    await cold.getByRole('button', { name: 'choose files' }).click({ trial: true });
    const interactiveMs = performance.now() - began;
    await cold.close();
    const measured = async (path: string, search: Search) => {
      await page.goto(service.filesUrl + path);
      const scrolled = await scrollThrough(page);
      return { ...scrolled, searchMs: await timeSearch(page, search) };
    };
    const list = await measured('/files', { label: 'Search by name', text: 'report-00042', find: 'report-00042.txt' });
    const shelf = await measured('/catalogue', { label: 'Search bundles and plugins', text: 'pronounce', find: '' });
    const end = { loopP99: await loopDelay(service), peakMb: residentMemory(service.pid) };
    return [
      {
        bench: 'console, nothing cached, until it can be used',
        ours: `${interactiveMs.toFixed(0)} ms`,
        floor: '-',
        bar: `≤ ${bars.interactiveMs} ms`,
        met: interactiveMs <= bars.interactiveMs,
        ...end,
      },
      { bench: `console, list of ${files} files`, ...rowOf(list), ...end },
      { bench: `console, catalogue of ${plugins} plugins more`, ...rowOf(shelf), ...end },
    ];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

interface Moved {
  readonly longestMs: number;
  readonly pixels: number;
  readonly searchMs: number;
}

function rowOf({ longestMs, pixels, searchMs }: Moved) {
  return {
    ours: `longest frame ${longestMs.toFixed(0)} ms over ${pixels} px, found in ${searchMs.toFixed(0)} ms`,
    floor: '-',
    bar: `≤ ${bars.frameMs} ms; ≤ ${bars.searchMs} ms`,
    met: longestMs <= bars.frameMs && searchMs <= bars.searchMs,
  };
}

async function uploadMany({ filesUrl, key }: Service): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < files) {
      const number = String(next++).padStart(5, '0');
      const body = new FormData();
      body.append('purpose', 'record_file');
      body.append('file', new Blob([`Report ${number}\n`]), `report-${number}.txt`);
      const answer = await fetch(`${filesUrl}/v1/files`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}` },
        body,
      });
      if (!answer.ok) throw new Error(`an upload was answered with ${answer.status}: ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function signIn(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Name').fill(account.name);
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await page.getByLabel('Password once more').fill(account.password);
  await page.getByRole('button', { name: 'Create the administrator' }).click();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
}

/** Scrolls the list of the page to its end, including the parts that load during the scrolling. */
async function scrollThrough(page: Page): Promise<{ longestMs: number; pixels: number }> {
  await page.locator('section[tabindex="0"] li').first().waitFor();
  return page.evaluate<{ longestMs: number; pixels: number }>(`new Promise((done) => {
    const list = document.querySelector('section[tabindex="0"]');
    let [before, longestMs, atEnd] = [performance.now(), 0, performance.now()];
    const step = (now) => {
      longestMs = Math.max(longestMs, now - before);
      before = now;
      const top = list.scrollTop;
      list.scrollTop += 1500;
      if (list.scrollTop !== top) atEnd = now;
      if (now - atEnd > 3000) done({ longestMs, pixels: list.scrollTop + list.clientHeight });
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
}

interface Search {
  readonly label: string;
  readonly text: string;
  /** A text in the matching item; empty: the message for an empty result. */
  readonly find: string;
}

async function timeSearch(page: Page, { label, text, find }: Search): Promise<number> {
  const began = performance.now();
  await page.getByLabel(label).fill(text);
  const list = page.locator('section[tabindex="0"] li');
  if (find !== '') await list.filter({ hasText: find }).first().waitFor();
  await page.waitForFunction(`document.querySelectorAll('section[tabindex="0"] li').length <= 1`);
  return performance.now() - began;
}
