import assert from 'node:assert/strict';
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { type Seeded, seed } from '../support/console-seed.ts';
import { temporaryFolder } from '../support/service.ts';

const root = resolve(import.meta.dirname, '../..');
const firstLoadBytes = 250 * 1024;

/** Every page of the console with something on it, and how to know that it is there. */
function pagesOf({ collectionId, recordId, runId }: Seeded): ReadonlyArray<readonly [path: string, heading: RegExp]> {
  return [
    ['/', /^Overview$/],
    ['/files', /^Files$/],
    ['/collections', /^Collections$/],
    [`/collections/${collectionId}`, /^Guides$/],
    [`/collections/${collectionId}/records/${recordId}`, /^guide\.md$/],
    ['/catalogue', /^Catalogue$/],
    ['/catalogue/calculator/evaluate', /^Evaluate$/],
    ['/runs', /^Runs$/],
    [`/runs/${runId}`, /^calculator\/evaluate$/],
    ['/settings', /^Project settings$/],
    ['/files/nothing', /^There is no such page$/],
    ['/docs', /^Quartermaster: files$/],
  ];
}

async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8'));
  const found = await page.evaluate<Array<{ impact: string; id: string; nodes: Array<{ html: string }> }>>(
    'axe.run().then((result) => result.violations)',
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

async function open(opened: OpenedConsole, path: string, heading: RegExp): Promise<void> {
  await opened.page.goto(opened.service.filesUrl + path);
  await opened.page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await opened.page.waitForLoadState('networkidle');
}

for (const scheme of ['light', 'dark'] as const) {
  test(`[pages] axe finds nothing serious on any page in ${scheme} colours, and nothing breaks the policy or leaves the origin`, async (t) => {
    const opened = await openConsole(t);
    const { page, service } = opened;
    const seeded = await seed(service);
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    // The policy of pages lets in no script of a test: axe is put in by the browser's own debugger.
    for (const [path, heading] of pagesOf(seeded)) {
      await open(opened, path, heading);
      assert.deepEqual(await seriousFindings(page), [], `${path} in ${scheme}`);
    }
    await open(opened, '/settings', /^Project settings$/);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('dialog').waitFor();
    assert.deepEqual(await seriousFindings(page), [], `a dialog in ${scheme}`);
    assert.deepEqual(opened.complaints, []);
    assert.deepEqual([...opened.origins], [service.filesUrl]);
  });
}

test('[pages] sign-in, set-up without its link and the reference of the plugins address have nothing serious either', async (t) => {
  const opened = await openConsole(t);
  const { page, context, service } = opened;
  await page.goto(`${service.pluginsUrl}/docs`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  await context.clearCookies();
  await page.goto(service.filesUrl);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  assert.deepEqual(opened.complaints, []);
});

test('[pages] the first load of any page is at most 250 KiB compressed, its scripts and styles come from files that last', async (t) => {
  const opened = await openConsole(t);
  const { context, service } = opened;
  const seeded = await seed(service);
  const manifest = await readFile(join(root, 'packages/console/dist/manifest.json'), 'utf8');
  const { files } = JSON.parse(manifest) as {
    files: Array<{ name: string; sizes: { identity: number; gzip?: number } }>;
  };
  const sizeOf = new Map(files.map(({ name, sizes }) => [`/${name}`, sizes.gzip ?? sizes.identity]));
  for (const [path, heading] of pagesOf(seeded)) {
    const page = await context.newPage();
    const loaded = new Set<string>();
    page.on('request', (request) => loaded.add(new URL(request.url()).pathname));
    await page.goto(service.filesUrl + path);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    const sum = [...loaded].reduce((bytes, name) => bytes + (sizeOf.get(name) ?? 0), 0);
    t.diagnostic(`${path}: ${Math.round(sum / 1024)} KiB`);
    assert.ok(sum > 0 && sum <= firstLoadBytes, `${path}: ${sum} bytes`);
    await page.close();
  }
  const html = await (await fetch(`${service.filesUrl}/files`)).text();
  assert.ok(!/<script(?![^>]*\bsrc=)|\son\w+=|<style/i.test(html), 'no script or style within the page');
  const [, asset = ''] = /src="(\/assets\/[^"]+)"/.exec(html) ?? [];
  const answer = await fetch(service.filesUrl + asset, { headers: { 'Accept-Encoding': 'br' } });
  assert.equal(answer.headers.get('content-encoding'), 'br');
  assert.match(answer.headers.get('cache-control') ?? '', /immutable/);
  const etag = answer.headers.get('etag') ?? '';
  const again = await fetch(service.filesUrl + asset, { headers: { 'Accept-Encoding': 'br', 'If-None-Match': etag } });
  assert.equal(again.status, 304);
  for (const bad of ['/assets/../package.json', '/assets/%2e%2e/manifest.json', '/assets/nothing.js']) {
    assert.equal((await fetch(service.filesUrl + bad)).status, 404, bad);
  }
});

test('[pages] a file of 200 MB cancelled half way leaves nothing behind, and another goes through afterwards', async (t) => {
  const opened = await openConsole(t);
  const { page, service, context } = opened;
  const folder = await temporaryFolder(t);
  const path = join(folder, 'large.txt');
  await writeFile(path, 'a line of text\n');
  await truncate(path, 200 * 1024 * 1024);
  const before = await bytesIn(service.folder);
  await openPage(opened, 'Files');
  // As over a network of 40 MB/s: on one machine the file would be there before anybody could press a button.
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  const limits = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 40 * 1024 * 1024 };
  await network.send('Network.emulateNetworkConditions', limits);
  await page.setInputFiles('input[type=file]', path);
  await page
    .locator('[role=progressbar][aria-valuenow^="4"], [role=progressbar][aria-valuenow^="5"]')
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Cancel large.txt' }).click();
  await page.locator('[data-name="large.txt"][data-state="cancelled"]').waitFor();
  await network.send('Network.emulateNetworkConditions', { ...limits, uploadThroughput: -1 });
  await until(async () => (await bytesIn(service.folder)) <= before + 1024 * 1024);
  assert.deepEqual((await service.client.files.list()).data, []);
  assert.equal(await filesIn(join(service.folder, 'blobs')), 0);

  await writeFile(join(folder, 'small.txt'), 'another');
  await page.setInputFiles('input[type=file]', join(folder, 'small.txt'));
  await page.locator('[data-name="small.txt"][data-state="done"]').waitFor();
  assert.equal((await service.client.files.list()).data.length, 1);
});

test('[pages] a page of another origin, though of the same site, changes nothing by form, fetch, beacon or picture', async (t) => {
  const { service, context, page } = await openConsole(t);
  const seeded = await seed(service);
  const paths = [
    ...['/v1/session', '/v1/session/password', '/v1/setup', '/v1/projects', '/v1/files', '/v1/collections'],
    ...[`/v1/projects/${seeded.projectId}/keys`, '/plugins/v1/execute', '/plugins/v1/verify_credentials'],
    ...[`/v1/collections/${seeded.collectionId}`, `/v1/collections/${seeded.collectionId}/records`],
    `/v1/collections/${seeded.collectionId}/records/${seeded.recordId}/retry`,
  ].map((path) => `${service.filesUrl}${path}?project_id=${seeded.projectId}`);
  const origin = await servePage(t);
  const other = await context.newPage();
  const succeeded: string[] = [];
  const attempts: string[] = [];
  other.on('request', (request) => {
    if (request.url().startsWith(service.filesUrl)) attempts.push(request.method());
  });
  other.on('response', (response) => {
    const isOurs = response.url().startsWith(service.filesUrl) && response.request().method() !== 'GET';
    if (isOurs && response.ok()) succeeded.push(`${response.request().method()} ${response.url()}`);
  });
  await other.goto(origin);
  await other.evaluate(`(${attack.toString()})(${JSON.stringify(paths)})`);
  assert.ok(attempts.length >= paths.length * 6, `only ${attempts.length} attempts were made`);
  assert.deepEqual(succeeded, []);
  await page.reload();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  const { data } = await service.client.collections.list();
  assert.deepEqual(
    data.map(({ name }) => name),
    ['Guides'],
  );
});

/** Runs in the page of the other origin. */
async function attack(paths: readonly string[]): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: the browser's own objects, which tests of a server have no types for.
  const { document, navigator } = globalThis as any;
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
  const server = createServer((_request, answer) => {
    answer.setHeader('Content-Type', 'text/html');
    answer.end('<!doctype html><title>another origin</title><body></body>');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`; // it listens on TCP
}

async function filesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).length;
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((done) => setTimeout(done, 50));
}
