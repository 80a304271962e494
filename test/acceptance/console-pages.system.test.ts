import assert from 'node:assert/strict';
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { readApiDocument } from '../support/api-document.ts';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { type OpenedConsole, openConsole, openPage } from '../support/console.ts';
import { type Seeded, seed } from '../support/console-seed.ts';
import { attackFromElsewhere } from '../support/foreign-page.ts';
import { temporaryFolder } from '../support/service.ts';

const root = resolve(import.meta.dirname, '../..');
const firstLoadBytes = 250 * 1024;

interface Subject {
  readonly opened: OpenedConsole;
  readonly seeded: Seeded;
  /** The paths that the first load of each page has requested. */
  readonly requested: Map<string, ReadonlySet<string>>;
}

/** All pages share one service and one browser, because starting them takes longer than checking a page. */
test('[pages] of the console are accessible, with content on each of them', async (t) => {
  const opened = await openConsole(t);
  const subject: Subject = { opened, seeded: await seed(opened.service), requested: new Map() };
  await t.test(
    '[pages] axe finds nothing serious on any page in light or dark mode, and no page violates its policy or leaves its origin',
    () => lookAtPages(subject),
  );
  await t.test('[pages] the first load of any page is at most 250 KiB compressed', (t) => weighPages(t, subject));
  await t.test('[pages] contain no inline script or style, and load only files that browsers may cache forever', () =>
    readPages(subject),
  );
  await t.test(
    '[pages] a page of another origin on the same site changes nothing with a form, fetch, beacon or picture',
    (t) => attackPages(t, subject),
  );
  await t.test(
    '[pages] an upload of 200 MB that is cancelled half way leaves nothing behind, and the next one succeeds',
    (t) => cancelUpload(t, subject),
  );
  await t.test(
    '[pages] axe finds nothing serious on the sign-in, on the set-up without its link and in the reference of the plugins address',
    () => lookSignedOut(subject),
  );
});

/** Returns every page of the console with content, and a text that shows that it has loaded. */
function pagesOf({ collectionId, recordId, runId }: Seeded): ReadonlyArray<readonly [path: string, heading: RegExp]> {
  return [
    ['/', /^Overview$/],
    ['/jobs', /^Jobs$/],
    ['/files', /^Files$/],
    ['/collections', /^Collections$/],
    [`/collections/${collectionId}`, /^Guides$/],
    [`/collections/${collectionId}/records/${recordId}`, /^guide\.md$/],
    ['/catalogue', /^Catalogue$/],
    ['/catalogue/add', /^Add integrations$/],
    ['/catalogue/calculator', /^Calculator$/],
    ['/catalogue/calculator/evaluate', /^Evaluate$/],
    ['/runs', /^Runs$/],
    ['/credentials', /^Credentials$/],
    [`/runs/${runId}`, /^calculator\/evaluate$/],
    ['/applications', /^Applications$/],
    ['/people', /^People$/],
    ['/audit', /^Audit log$/],
    ['/settings', /^Project settings$/],
    ['/runs/no/such', /^Page not found$/],
    ['/docs/api', /^Quartermaster: files$/],
  ];
}

type State = readonly [path: string, heading: RegExp, act: (page: Page) => Promise<void>];

/** Returns the states of pages that appear after an action of the user. */
function statesOf({ collectionId }: Seeded): readonly State[] {
  return [
    [
      '/settings',
      /^Project settings$/,
      async (page) => {
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('dialog').waitFor();
      },
    ],
    [
      '/credentials',
      /^Credentials$/,
      async (page) => {
        await page.getByText('No credential profiles yet').waitFor();
        await page.getByRole('button', { name: 'New profile' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Bundle').selectOption('github');
        await dialog.locator('input[type=password]').first().waitFor();
      },
    ],
    [
      '/files',
      /^Files$/,
      async (page) => {
        await page.getByRole('button', { name: 'guide.md', exact: true }).click();
        await page.getByRole('dialog').getByRole('link', { name: /^rcrd/ }).first().waitFor();
      },
    ],
    [
      `/collections/${collectionId}`,
      /^Guides$/,
      async (page) => {
        await page.getByRole('tab', { name: 'Search' }).click();
        await page.getByLabel('Search this collection').fill('How long may books be kept?');
        await page.getByRole('button', { name: 'Search' }).click();
        await page.getByText('Why this result').first().waitFor();
      },
    ],
    [
      '/settings',
      /^Project settings$/,
      async (page) => {
        await page.getByRole('button', { name: 'Create rate limit' }).click();
        await page.getByRole('dialog').getByLabel('Per minute').fill('60');
      },
    ],
    [
      '/catalogue/calculator/evaluate',
      /^Evaluate$/,
      async (page) => {
        await page.getByLabel('expression').fill('1+1');
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await page.getByRole('link', { name: 'View run' }).waitFor();
      },
    ],
  ];
}

async function open(opened: OpenedConsole, path: string, heading: RegExp): Promise<void> {
  await opened.page.goto(opened.service.filesUrl + path);
  await opened.page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await opened.page.waitForLoadState('networkidle');
}

async function lookAtPages({ opened, seeded, requested }: Subject): Promise<void> {
  const { page, service } = opened;
  for (const [path, heading] of pagesOf(seeded)) {
    const paths = new Set<string>();
    const add = (request: Request) => paths.add(new URL(request.url()).pathname);
    page.on('request', add);
    await open(opened, path, heading);
    page.off('request', add);
    requested.set(path, paths);
    assert.deepEqual(await findingsInBoth(page), nothing, path);
  }
  for (const [path, heading, act] of statesOf(seeded)) {
    await open(opened, path, heading);
    await act(page);
    assert.deepEqual(await findingsInBoth(page), nothing, `${path} in use`);
  }
  await page.emulateMedia({ colorScheme: null });
  assert.deepEqual(opened.pageErrors, []);
  assert.deepEqual([...opened.origins], [service.filesUrl]);
}

async function weighPages(t: TestContext, { seeded, requested }: Subject): Promise<void> {
  const manifest = await readFile(join(root, 'packages/console/dist/manifest.json'), 'utf8');
  const { files } = JSON.parse(manifest) as {
    files: Array<{ name: string; digests: { gzip?: string; br?: string } }>;
  };
  const dist = join(root, 'packages/console/dist');
  const sizeOf = new Map<string, number>();
  for (const { name, digests } of files) {
    const ending = digests.gzip !== undefined ? '.gz' : digests.br !== undefined ? '.br' : '';
    sizeOf.set(`/${name}`, (await stat(join(dist, `${name}${ending}`))).size);
  }
  for (const [path] of pagesOf(seeded)) {
    const sum = [...(requested.get(path) ?? [])].reduce((bytes, name) => bytes + (sizeOf.get(name) ?? 0), 0);
    t.diagnostic(`${path}: ${Math.round(sum / 1024)} KiB`);
    assert.ok(sum > 0 && sum <= firstLoadBytes, `${path}: ${sum} bytes`);
  }
}

async function readPages({ opened: { service } }: Subject): Promise<void> {
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
}

async function attackPages(t: TestContext, { opened, seeded }: Subject): Promise<void> {
  const { service, context } = opened;
  const paths = [
    ...['/v1/session', '/v1/session/password', '/v1/setup', '/v1/projects', '/v1/files', '/v1/collections'],
    ...[`/v1/projects/${seeded.projectId}/keys`, '/plugins/v1/execute', '/plugins/v1/verify_credentials'],
    ...[`/v1/collections/${seeded.collectionId}`, `/v1/collections/${seeded.collectionId}/records`],
    `/v1/collections/${seeded.collectionId}/records/${seeded.recordId}/retry`,
  ].map((path) => `${service.filesUrl}${path}?project_id=${seeded.projectId}`);
  const { attempts, succeeded } = await attackFromElsewhere(t, context, paths);
  assert.ok(attempts.length >= paths.length * 6, `only ${attempts.length} attempts were made`);
  assert.deepEqual(succeeded, []);
  await open(opened, '/settings', /^Project settings$/);
  const { data } = await service.client.collections.list();
  assert.deepEqual(
    data.map(({ name }) => name),
    ['Guides'],
  );
}

async function cancelUpload(t: TestContext, { opened }: Subject): Promise<void> {
  const { page, service, context } = opened;
  const folder = await temporaryFolder(t);
  const path = join(folder, 'large.txt');
  await writeFile(path, 'a line of text\n');
  await truncate(path, 200 * 1024 * 1024);
  const before = await bytesIn(service.folder);
  const blobs = await filesIn(join(service.folder, 'blobs'));
  await openPage(opened, 'Files');
  // Limits the network to 40 MB/s. On one machine the upload would otherwise end before the button can be pressed.
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  const limits = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 40 * 1024 * 1024 };
  await network.send('Network.emulateNetworkConditions', limits);
  await page.setInputFiles('input[type=file]', path);
  const progress = page.locator('[data-name="large.txt"] [role=progressbar]');
  await until(async () => Number(await progress.getAttribute('aria-valuenow')) >= 45);
  await page.getByRole('button', { name: 'Cancel large.txt' }).click();
  await page.locator('[data-name="large.txt"][data-state="cancelled"]').waitFor();
  await network.send('Network.emulateNetworkConditions', { ...limits, uploadThroughput: -1 });
  await until(async () => (await bytesIn(service.folder)) <= before + 1024 * 1024);
  assert.equal((await service.client.files.list()).data.length, 1, 'only the one of before');
  assert.equal(await filesIn(join(service.folder, 'blobs')), blobs);

  await writeFile(join(folder, 'small.txt'), 'another');
  await page.setInputFiles('input[type=file]', join(folder, 'small.txt'));
  await page.locator('[data-name="small.txt"][data-state="done"]').waitFor();
  assert.equal((await service.client.files.list()).data.length, 2);
}

async function lookSignedOut({ opened: { page, context, service, pageErrors } }: Subject): Promise<void> {
  await page.goto(`${service.pluginsUrl}/docs/api`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing);
  const { paths } = await readApiDocument<{ paths: Record<string, Record<string, WithSamples>> }>(service.pluginsUrl);
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const samples = operations.flatMap((operation) => operation['x-codeSamples'].map(({ source }) => source));
  assert.ok(samples.length > 25);
  const shown = await page.locator('pre').allTextContents();
  assert.deepEqual(shown.sort(), samples.sort(), 'the page shows the examples of the document');
  await context.clearCookies();
  await page.goto(service.filesUrl);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing);
  assert.deepEqual(pageErrors, []);
}

interface WithSamples {
  readonly 'x-codeSamples': ReadonlyArray<{ readonly source: string }>;
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
