import assert from 'node:assert/strict';
import type { FileChooser, Locator, Page } from 'playwright-core';

/** Steps of a person who uses the console with the keyboard alone. */

export const focusedElement = (page: Page) => page.evaluate<string>('document.activeElement?.outerHTML.slice(0, 120)');

/** Waits until the element has the focus. */
export async function waitForFocus(target: Locator): Promise<void> {
  await target.waitFor();
  for (let looks = 0; looks < 600; looks += 1) {
    if (await hasFocus(target)) return;
    await target.page().waitForTimeout(100);
  }
  assert.fail(`not ${target} has the focus, but ${await focusedElement(target.page())}`);
}

export async function hasFocus(target: Locator): Promise<boolean> {
  return (await target.and(target.page().locator(':focus')).count()) > 0;
}

/** Presses Tab until an element has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < 80; tabs += 1) {
    await page.keyboard.press('Tab');
    if (await hasFocus(target)) return;
  }
  assert.fail(`80 tabs do not reach ${target}; the focus is on ${await focusedElement(page)}`);
}

/** Opens the file dialog of the button that has the focus. */
export async function openFileChooser(page: Page): Promise<FileChooser> {
  const chooser = page.waitForEvent('filechooser');
  // The page learns asynchronously that it must report its dialog instead of opening it. It answers in order.
  await page.evaluate('0');
  await page.keyboard.press('Enter');
  return await chooser;
}
