import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { findingsInBoth, nothing } from '../support/axe.ts';
import { endedRun } from '../support/client.ts';
import { type OpenedConsole, openConsole } from '../support/console.ts';
import { send, serve } from '../support/http.ts';
import { temporaryFolder } from '../support/service.ts';
import { writeBundle } from '../support/write-bundle.ts';

/** A plugin that returns its input. */
const echo = {
  'handler.ts': 'export const run = (input) => input;',
  'say.yaml': `id: say
name: Say
description: Returns its input.
handler: handler.ts
input_schema:
  type: object
  required: [values]
  properties: {values: {type: array, maxItems: 16, description: The values., items: {type: string, maxLength: 1000000, description: A value.}}}
output_schema:
  type: object
  properties: {values: {type: array, description: The values., items: {type: string, description: A value.}}}
effects: read
idempotent: true
`,
};

const svgOf = (content: string, attributes = 'width="120" height="60"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`;
const urlOf = (type: string, bytes: Buffer | string) => `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;

/** A PNG whose header declares a size, with the pixels of one line. */
function pngOf(width: number, height: number): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(Buffer.concat([Buffer.from(name), data])));
    return Buffer.concat([length, Buffer.from(name), data, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0], 8);
  const pixels = deflateSync(Buffer.alloc(1 + Math.ceil(width / 8)));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

const gif = Buffer.from('R0lGODlhAQABAIAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64');

test('[console] a browser shows the pictures and files of results, and hostile ones cause no harm', async (t) => {
  const folder = await writeBundle(await temporaryFolder(t), 'echo', echo);
  const opened = await openConsole(t, { settings: { BUNDLES: folder, ISOLATION: 'process' } });
  await t.test('[console] a chart is shown on the page of its plugin, with its title, and can be downloaded', () =>
    drawChart(opened),
  );
  await t.test(
    '[console] the page of a run shows pictures of every supported format, and offers other files as downloads',
    () => showFormats(opened),
  );
  await t.test(
    '[console] a hostile picture is not shown, runs nothing, loads nothing and does not block the page',
    (t) => showHostile(t, opened),
  );
  await t.test('[console] an expired artifact says so, in both languages', () => showExpired(opened));
  // The browser styles its own report on malformed XML, and the policy blocks that.
  const ofReports = /^console: Applying inline style violates/;
  assert.deepEqual(
    opened.pageErrors.filter((one) => !ofReports.test(one)),
    [],
  );
  assert.deepEqual(
    [...opened.origins].filter((origin) => origin !== 'null'),
    [opened.service.filesUrl],
  );
});

async function drawChart({ page, service }: OpenedConsole): Promise<void> {
  await page.goto(`${service.filesUrl}/catalogue/chart_maker/make_pie_chart`);
  await page.getByRole('tab', { name: 'JSON' }).first().click();
  await page
    .getByRole('textbox', { name: 'JSON' })
    .fill(JSON.stringify({ title: 'Energy of a year', labels: ['Wind', 'Sun', 'Other'], values: [50, 30, 20] }));
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const picture = page.getByRole('img', { name: 'Energy of a year' });
  await picture.waitFor();
  assert.equal(await picture.count(), 1, 'equal content is shown once');
  await drawn(page, 1);
  assert.match((await picture.getAttribute('src')) ?? '', /^data:image\/svg\+xml;base64,/);
  assert.deepEqual(await findingsInBoth(page), nothing, 'a chart');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download make_pie_chart.svg' }).click();
  assert.match(await readFile(await (await downloading).path(), 'utf8'), /^<svg/);
}

/** Runs the plugin in the background and opens the page of the run. */
async function openRun({ page, service }: OpenedConsole, values: readonly string[]): Promise<void> {
  const json = { bundle_id: 'echo', plugin_id: 'say', input_params: { values }, credentials: {} };
  const headers = { prefer: 'respond-async' };
  const { data } = (await send(`${service.pluginsUrl}/v1/execute`, { key: service.key, json, headers })).body;
  await endedRun(service.client, data.run_id);
  await page.goto(`${service.filesUrl}/runs/${data.run_id}`);
  await page.getByRole('heading', { name: 'Pictures and files' }).waitFor();
}

/** Waits until this number of pictures is drawn. */
async function drawn(page: Page, count: number): Promise<void> {
  const script = `[...document.querySelectorAll('figure img')].filter((one) => one.complete && one.naturalWidth > 0).length === ${count}`;
  while (!(await page.evaluate<boolean>(script)))
    await page.evaluate('new Promise(requestAnimationFrame).then(() => 0)');
}

async function statesOf(page: Page, count: number): Promise<string[]> {
  const settled = page.locator('figure:is([data-state], :not(:has(img)))');
  await page
    .locator('figure')
    .nth(count - 1)
    .waitFor();
  const read = () =>
    page.locator('figure').evaluateAll((all) => all.map((one) => one.getAttribute('data-state') ?? ''));
  for (let states = await read(); ; states = await read()) {
    if ((await settled.count()) === count && !states.includes('')) return states;
    await page.evaluate('new Promise(requestAnimationFrame).then(() => 0)');
  }
}

async function showFormats(opened: OpenedConsole): Promise<void> {
  const { page } = opened;
  // The browser itself encodes the pictures that the page must show.
  const [jpeg = '', webp = ''] = await page.evaluate<string[]>(`['image/jpeg', 'image/webp'].map((type) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [70, 30];
    canvas.getContext('2d').fillRect(0, 0, 30, 30);
    return canvas.toDataURL(type);
  })`);
  assert.match(webp, /^data:image\/webp/);
  const glyphs = '<defs><path id="a" d="M0 0h9v9z"/></defs><use xlink:href="#a"/><use href="#a" x="20"/>';
  const shown = [
    jpeg,
    webp,
    urlOf('image/gif', gif),
    urlOf('image/png', pngOf(8, 1)),
    svgOf(`<title>Two triangles</title><style>*{stroke-linejoin:round}</style><g style="fill:#f00">${glyphs}</g>`),
  ];
  const files = [urlOf('application/pdf', '%PDF-1.7\n'), urlOf('text/plain', 'some text')];
  await openRun(opened, [...shown, ...files]);
  await drawn(page, shown.length);
  assert.equal(await page.locator('figure').count(), shown.length + files.length);
  await page.getByRole('img', { name: 'Two triangles' }).waitFor();
  await page.getByRole('img', { name: 'Picture say.jpg' }).waitFor();
  await page.locator('figure[data-name="say-6.pdf"]').getByText('application/pdf · 9 B').waitFor();
  assert.deepEqual(await findingsInBoth(page), nothing, 'formats');
  assert.deepEqual(opened.pageErrors, []);
}

async function showHostile(t: TestContext, opened: OpenedConsole): Promise<void> {
  const { page } = opened;
  let requests = 0;
  const origin = await serve(t, (_request, response) => {
    requests += 1;
    response.end();
  });
  const url = `${origin}/a`;
  const script = `document.title = "taken"; fetch("${url}")`;
  const groups = Array.from({ length: 30 }, (_, at) => `<g id="g${at + 1}">${`<use href="#g${at}"/>`.repeat(9)}</g>`);
  const entities = [...'bcdefghij'].map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghi'[at]};`.repeat(10)}">`);
  const clips = Array.from(
    { length: 30 },
    (_, at) => `<clipPath id="c${at + 1}">${`<path d="M0 0h9v9" clip-path="url(#c${at})"/>`.repeat(9)}</clipPath>`,
  );
  const hostile = [
    svgOf(`<script>${script}</script><rect width="9" height="9"/>`),
    svgOf(
      `<foreignObject width="9" height="9"><body xmlns="http://www.w3.org/1999/xhtml"><img src="${url}" onerror='${script}'/></body></foreignObject>`,
    ),
    svgOf(`<image href="${url}" width="9" height="9"/>`),
    svgOf(`<style>rect { fill: url("${url}#a") } @import "${url}";</style><rect width="9" height="9"/>`),
    svgOf(`<g style="fill: u\\rl(${url})"><path d="M0 0"/></g>`),
    svgOf(`<g id="g0"><path d="M0 0"/></g>${groups.join('')}<use href="#g30"/>`),
    svgOf(`<clipPath id="c0"><path d="M0 0"/></clipPath>${clips.join('')}<path d="M0 0h9v9" clip-path="url(#c30)"/>`),
    svgOf(
      `<filter id="f">${'<feGaussianBlur stdDeviation="900"/>'.repeat(500)}</filter><rect width="9" height="9" filter="url(#f)"/>`,
    ),
    urlOf('image/svg+xml', `<!DOCTYPE svg [<!ENTITY a "xxxxxxxxxx">${entities.join('')}]>${svgOf('<text>&j;</text>')}`),
    svgOf('<g>'.repeat(60_000) + '</g>'.repeat(60_000)),
    urlOf('image/svg+xml', `<html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`),
    urlOf('image/png', pngOf(60_000, 60_000)),
    urlOf('image/png', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 7)])),
  ];
  await openRun(opened, hostile);
  assert.deepEqual(
    await statesOf(page, hostile.length),
    hostile.map(() => 'unsafe'),
  );
  assert.equal(await page.locator('figure img').count(), 0);
  assert.equal(await page.getByRole('button', { name: /^Download say/ }).count(), hostile.length);
  // An event of a picture that is shown never runs, because browsers draw pictures without scripts.
  await openRun(opened, [svgOf(`<rect width="90" height="50" onload='${script}' onclick='${script}'/>`)]);
  await drawn(page, 1);
  await page.locator('figure img').click();
  // Wrong type: the bytes are a picture of another format, or none at all.
  await openRun(opened, [urlOf('image/png', gif), urlOf('text/html', `<script>${script}</script>`.padEnd(99))]);
  await drawn(page, 1);
  await page.locator('figure[data-name="say-2.bin"]').getByText('application/octet-stream').waitFor();
  assert.notEqual(await page.title(), 'taken');
  assert.equal(requests, 0);
}

async function showExpired(opened: OpenedConsole): Promise<void> {
  const { page, service } = opened;
  await openRun(opened, [svgOf('<rect width="90" height="50"/>'), urlOf('application/pdf', '%PDF-1.7\n')]);
  await drawn(page, 1);
  const { key } = service;
  const { body } = await send(`${service.pluginsUrl}/v1${new URL(page.url()).pathname}`, { key });
  const [first] = body.data.result.artifacts;
  const removed = await send(`${service.pluginsUrl}/v1/artifacts/${first.artifact_id}`, { method: 'DELETE', key });
  assert.equal(removed.status, 200);
  await page.reload();
  await page.locator('figure[data-name="say.svg"]').getByText('This file has expired.').waitFor();
  // Two days later, as the clock of the browser has it.
  await page.clock.setFixedTime(Date.now() + 48 * 3_600_000);
  await page.reload();
  await page.locator('figure[data-name="say-2.pdf"]').getByText('This file has expired.').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Download/ }).count(), 0);
  assert.deepEqual(await findingsInBoth(page), nothing, 'expired');
  await page.getByRole('button', { name: '中文' }).click();
  await page.locator('figure').getByText('此文件已过期。').first().waitFor();
  await page.getByRole('heading', { name: '图片和文件' }).waitFor();
}
