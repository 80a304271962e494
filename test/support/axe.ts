import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';

const axe = resolve(import.meta.dirname, '../../node_modules/axe-core/axe.min.js');

/** The result for a page without findings. */
export const nothing = { light: [], dark: [] };

async function seriousFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Ends transitions, because their intermediate colours are not meant to be read. The end of one can start others.
  await page.evaluate(`(() => {
    for (let rounds = 0; rounds < 100; rounds += 1) {
      const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition);
      if (transitions.length === 0) return;
      for (const one of transitions) one.finish();
    }
    throw new Error('transitions never end');
  })()`);
  // The content security policy of the pages blocks scripts of tests, so the debugger of the browser injects axe.
  const isThere = await page.evaluate<boolean>("typeof axe !== 'undefined'");
  if (!isThere) await page.evaluate(await readFile(axe, 'utf8'));
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) };
  const found = await page.evaluate<Array<{ impact: string; id: string; nodes: Array<{ html: string }> }>>(
    `axe.run(${JSON.stringify(options)}).then((result) => result.violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

/** Waits until the console has changed its colours. Pages without this attribute follow the browser at once. */
async function emulateColors(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate(`(async () => {
    const { dataset } = document.documentElement;
    for (let looks = 0; (dataset.mantineColorScheme ?? '${colorScheme}') !== '${colorScheme}'; looks += 1) {
      if (looks === 1000) throw new Error('the page does not become ${colorScheme}');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })()`);
}

/** Returns the serious findings of axe on the current page with light colours. */
export async function findingsInLight(page: Page): Promise<string[]> {
  await emulateColors(page, 'light');
  return await seriousFindings(page);
}

/** Returns the serious findings of axe on the current page. In dark mode, only rules about colours run again. */
export async function findingsInBoth(page: Page): Promise<{ light: string[]; dark: string[] }> {
  const light = await findingsInLight(page);
  await emulateColors(page, 'dark');
  return { light, dark: await seriousFindings(page, ['color-contrast', 'link-in-text-block']) };
}
