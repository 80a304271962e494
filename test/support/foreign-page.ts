import type { TestContext } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import { serve } from './http.ts';

export interface Attacked {
  /** The requests that the page of the other origin could send. */
  readonly attempts: readonly string[];
  /** The requests that succeeded although they change something. */
  readonly succeeded: readonly string[];
}

/** The browser objects that the attack uses. Tests of a server have no types for them. */
interface Page {
  readonly document: {
    readonly body: Element;
    createElement(name: 'form'): Element & { submit(): void };
    createElement(name: 'iframe'): Element & { name: string };
    createElement(name: 'img'): Element & { src: string };
    createElement(name: 'input'): Element;
  };
  readonly navigator: { sendBeacon(path: string, body: string): boolean };
}

interface Element extends EventTarget {
  append(child: Element): void;
}

/**
 * Sends requests to paths of the service from a page at another port of this machine, in every way a page can, in the
 * signed-in browser.
 */
export async function attackFromElsewhere(
  t: TestContext,
  context: BrowserContext,
  paths: readonly string[],
): Promise<Attacked> {
  const targets = new Set(paths.map((path) => new URL(path).origin));
  const origin = await servePage(t);
  const page = await context.newPage();
  const attempts: string[] = [];
  const succeeded: string[] = [];
  page.on('request', (request) => {
    if (targets.has(new URL(request.url()).origin)) attempts.push(request.method());
  });
  page.on('response', (response) => {
    const method = response.request().method();
    const isTarget = targets.has(new URL(response.url()).origin);
    if (isTarget && method !== 'GET' && response.ok()) succeeded.push(`${method} ${response.url()}`);
  });
  await page.goto(origin);
  await page.evaluate(`(${attack.toString()})(${JSON.stringify(paths)})`);
  await page.close();
  return { attempts, succeeded };
}

/** Runs in the page of the other origin. */
async function attack(paths: readonly string[]): Promise<void> {
  const { document, navigator } = globalThis as unknown as Page; // the globals of a browser, where this runs
  const frame = document.createElement('iframe');
  frame.name = 'target';
  document.body.append(frame);
  for (const path of paths) {
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']) {
      const form = document.createElement('form');
      Object.assign(form, { action: path, method: 'POST', enctype: type, target: 'target' });
      const input = document.createElement('input');
      Object.assign(input, { name: '{"name":"evil","scopes":["admin"],"x":"', value: '"}' });
      form.append(input);
      document.body.append(form);
      const loaded = new Promise((done) => frame.addEventListener('load', done, { once: true }));
      form.submit();
      await loaded;
    }
    const body = JSON.stringify({ name: 'evil', scopes: ['admin'] });
    const ignore = () => undefined;
    await fetch(path, { method: 'POST', mode: 'no-cors', credentials: 'include', body }).catch(ignore);
    const headers = { 'Content-Type': 'application/json', 'x-quartermaster-csrf': '1' };
    await fetch(path, { method: 'POST', credentials: 'include', headers, body }).catch(ignore);
    await fetch(path, { method: 'DELETE', credentials: 'include' }).catch(ignore);
    navigator.sendBeacon(path, body);
    const image = document.createElement('img');
    const over = new Promise((done) => image.addEventListener('error', done, { once: true }));
    image.src = path;
    await over;
  }
}

async function servePage(t: TestContext): Promise<string> {
  const origin = await serve(t, (_request, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end('<!doctype html><title>another origin</title><body></body>');
  });
  return `${origin}/`;
}
