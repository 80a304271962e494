import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { NewSession } from '@quartermaster/contract';
import { account, setUpToken } from './administrator.ts';
import { type OpenedBrowser, openBrowser } from './browser.ts';
import { type Ending, type ServiceRequest, type StartedService, startService } from './service.ts';

/** A class of the page, for functions passed to `evaluate`. */
declare const DataTransfer: new () => { readonly items: { add(file: File): void } };

export interface OpenedConsole extends OpenedBrowser {
  readonly service: StartedService;
}

/** Creates the administrator of a fresh service through the pages of the set-up. */
export async function setUpInPages({ page, service }: OpenedConsole): Promise<void> {
  await page.goto((await readFile(join(service.folder, 'setup-link'), 'utf8')).trim());
  await page.getByLabel('Name').fill(account.name);
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await page.getByLabel('Confirm password').fill(account.password);
  await page.getByRole('button', { name: 'Create administrator' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}

/**
 * Opens the console of a fresh service, signed in as its administrator. The pages of the set-up take longer than all of
 * this, and have tests of their own.
 */
export async function openConsole(t: Ending, options: ServiceRequest = {}): Promise<OpenedConsole> {
  const service = await startService(t, { settings: { LOG_LEVEL: 'warn', ...options.settings } });
  const opened = await openBrowser(t);
  const { page, context } = opened;
  const created = await context.request.post(`${service.filesUrl}/v1/setup`, {
    data: { token: await setUpToken(service), ...account },
  });
  const { data } = (await created.json()) as { data: NewSession };
  // A page of this origin without a script, where the token of the session can be stored.
  await page.goto(`${service.filesUrl}/v1/version`);
  await page.evaluate(`localStorage.setItem('quartermaster-console-token', ${JSON.stringify(data.console_token)})`);
  await page.goto(service.filesUrl);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  return { ...opened, service };
}

/** Opens a page through the menu. */
export async function openPage({ page }: OpenedConsole, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}

/** Creates a key with every scope through the pages. Returns the key as displayed. */
export async function createKeyInConsole(opened: OpenedConsole, name: string): Promise<string> {
  const { page } = opened;
  await openPage(opened, 'Project settings');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('What the key is for').selectOption('Something else');
  for (const scope of ['files', 'collections', 'plugins', 'admin']) {
    await dialog.getByRole('checkbox', { name: new RegExp(`^${scope}: `) }).check();
  }
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByTestId('created-key').textContent())?.trim() ?? '';
  await page.getByRole('button', { name: 'I copied the key' }).click();
  return key;
}

/** Drops files on the page like a mouse. */
export async function dropFiles({ page }: OpenedConsole, paths: readonly string[]): Promise<void> {
  const files = await Promise.all(
    paths.map(async (path) => ({ name: basename(path), content: (await readFile(path)).toString('base64') })),
  );
  const transfer = await page.evaluateHandle((contents) => {
    const data = new DataTransfer();
    for (const { name, content } of contents) {
      data.items.add(new File([Uint8Array.from(atob(content), (byte) => byte.charCodeAt(0))], name));
    }
    return data;
  }, files);
  for (const event of ['dragenter', 'dragover', 'drop']) {
    await page.getByTestId('drop-area').dispatchEvent(event, { dataTransfer: transfer });
  }
}
