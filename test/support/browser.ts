import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Ending } from './service.ts';
import { requireTools, toolsNamed } from './system-tools.ts';

const chromiumPath = '/usr/bin/chromium';

/** A tab of Debian's Chromium, and a list of the errors in it. */
export interface OpenedBrowser {
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Page errors, violations of the Content-Security-Policy, and responses with a status of 500 or more. */
  readonly pageErrors: string[];
  /** The origins of all requests. */
  readonly origins: Set<string>;
}

/** Opens a browser that is closed with the test. Installs Chromium when it is missing and apt can install it. */
export async function openBrowser(
  t: Ending,
  options: { width?: number; height?: number } = {},
): Promise<OpenedBrowser> {
  requireTools(toolsNamed('chromium'));
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] });
  t.after(() => browser.close());
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    locale: 'en-GB',
    reducedMotion: 'reduce',
  });
  // On a busy machine the expected elements appear later.
  context.setDefaultTimeout(180_000);
  const page = await context.newPage();
  const pageErrors: string[] = [];
  const origins = new Set<string>();
  page.on('pageerror', (error) => pageErrors.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // The browser logs every refused request. These are responses of the service, which are checked below.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) pageErrors.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  page.on('response', (response) => {
    if (response.status() >= 500) pageErrors.push(`${response.status()} ${response.url()}`);
  });
  return { browser, context, page, pageErrors, origins };
}
