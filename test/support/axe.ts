import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';

const axe = resolve(import.meta.dirname, '../../node_modules/axe-core/axe.min.js');

/** The result for a page without findings. */
export const nothing = { light: [], dark: [] };

async function seriousFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Waits for transitions, because their intermediate colours are not meant to be read.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished)).then(() => 0)',
  );
  // The content security policy of the pages blocks scripts of tests, so the debugger of the browser injects axe.
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

/** Returns the serious findings of axe on the current page. In dark mode, only rules about colours run again. */
export async function findingsInBoth(page: Page): Promise<{ light: string[]; dark: string[] }> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const light = await seriousFindings(page);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  return { light, dark: await seriousFindings(page, ['color-contrast', 'link-in-text-block']) };
}
