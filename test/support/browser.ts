import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Ending } from './service.ts';
import { requireTools, toolsNamed } from './system-tools.ts';

const chromiumPath = '/usr/bin/chromium';

/** A tab of Debian's Chromium, and what went wrong in it. */
export interface OpenedBrowser {
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors of pages, refusals of the Content-Security-Policy, answers of 500 and more. */
  readonly complaints: string[];
  /** Origins that requests went to. */
  readonly origins: Set<string>;
}

/** Opens a browser that ends with the test. Chromium is installed when it is missing and apt can do it. */
export async function openBrowser(t: Ending, wish: { width?: number; height?: number } = {}): Promise<OpenedBrowser> {
  await requireTools(toolsNamed('chromium'));
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] });
  t.after(() => browser.close());
  const context = await browser.newContext({
    viewport: { width: wish.width ?? 1280, height: wish.height ?? 900 },
    locale: 'en-GB',
    reducedMotion: 'reduce',
  });
  // What a test waits for comes on a busy machine too, only later.
  context.setDefaultTimeout(180_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // The browser reports every refused request by itself; those are the answers of the service, looked at below.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  page.on('response', (response) => {
    if (response.status() >= 500) complaints.push(`${response.status()} ${response.url()}`);
  });
  return { browser, context, page, complaints, origins };
}
