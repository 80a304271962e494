import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';

const axe = resolve(import.meta.dirname, '../../node_modules/axe-core/axe.min.js');

/** What a page without fault has. */
export const nothing = { light: [], dark: [] };

async function seriousFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Colours half way through a transition are nobody's to read.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished)).then(() => 0)',
  );
  // The policy of pages lets in no script of a test: axe is put in by the browser's own debugger.
  const isThere = await page.evaluate<boolean>("typeof axe !== 'undefined'");
  if (!isThere) await page.evaluate(await readFile(axe, 'utf8'));
  const options = rules === undefined ? {} : { runOnly: rules };
  const found = await page.evaluate<Array<{ impact: string; id: string; nodes: Array<{ html: string }> }>>(
    `axe.run(${JSON.stringify(options)}).then((result) => result.violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

/** What axe finds serious on a page as it is now. In dark, only what depends on colours is looked at again. */
export async function findingsInBoth(page: Page): Promise<{ light: string[]; dark: string[] }> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const light = await seriousFindings(page);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  return { light, dark: await seriousFindings(page, ['color-contrast', 'link-in-text-block']) };
}
