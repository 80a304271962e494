import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { countDark, pixelAt, readPng } from '../../../../../test/support/png.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { childrenOf } from '../execution/sandbox/testing/test-bed.suite.ts';
import { pictureLimits } from './picture-limits.ts';
import { openSvgConverter, type SvgConverter, type SvgConverterOptions } from './svg-converter.ts';

const never = new AbortController().signal;
const owner = (projectId: string) => ({ projectId, keyId: null });

function open(t: { after(task: () => Promise<void>): void }, options: Partial<SvgConverterOptions> = {}) {
  const metrics = createMetrics();
  const converter = openSvgConverter({
    admission: createAdmission(),
    logger: createLogger('silent'),
    metrics,
    ...options,
  });
  t.after(() => converter.close());
  const countOf = async (result: string) =>
    Number(new RegExp(`svg_conversions_total\\{result="${result}"\\} (\\d+)`).exec(await metrics.metrics())?.[1] ?? 0);
  return { converter, countOf };
}

async function convert(converter: SvgConverter, svg: string, projectId = 'one') {
  const png = await converter.toPng(Buffer.from(svg), owner(projectId), never);
  return png === undefined ? undefined : readPng(png);
}

const svgOf = (content: string, attributes = 'width="100" height="50"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`;

const white = [255, 255, 255, 255];
const red = [255, 0, 0, 255];

test('an SVG becomes a PNG of its size on white, with text of any font; a large one is scaled down', async (t) => {
  const { converter, countOf } = open(t);
  const half = await convert(converter, svgOf('<rect width="50" height="50" fill="red"/>'));
  assert.ok(half);
  assert.deepEqual([half.width, half.height, pixelAt(half, 10, 10), pixelAt(half, 80, 10)], [100, 50, red, white]);
  for (const family of ['sans-serif', 'Helvetica Neue', 'monospace']) {
    const text = await convert(converter, svgOf(`<text y="30" font-size="20" font-family="${family}">Ωмега é</text>`));
    assert.ok(text && countDark(text) > 50, family);
  }
  const wide = await convert(converter, svgOf('<rect width="2000" height="9" fill="red"/>', 'viewBox="0 0 4000 1000"'));
  assert.ok(wide);
  assert.deepEqual([wide.width, wide.height, pixelAt(wide, 9, 1)], [pictureLimits.side, 512, red]);
  assert.equal(await countOf('converted'), 5);
});

test('the limit svg_bytes accepts an SVG of its size and refuses one above it', async (t) => {
  const { converter, countOf } = open(t);
  const svg = svgOf('<rect width="50" height="50" fill="red"/>');
  const padded = svg + ' '.repeat(pictureLimits.svgBytes - svg.length);
  assert.ok(await convert(converter, padded));
  assert.ok(!(await convert(converter, `${padded} `)));
  assert.deepEqual([await countOf('converted'), await countOf('refused')], [1, 1]);
});

test('the limit svg_side accepts a picture of its width and refuses one above it', async (t) => {
  const { converter, countOf } = open(t);
  const { declaredSide } = pictureLimits;
  assert.ok(await convert(converter, svgOf('<path d="M0 0"/>', `width="${declaredSide}" height="100"`)));
  assert.ok(!(await convert(converter, svgOf('<path d="M0 0"/>', `width="${declaredSide + 1}" height="100"`))));
  assert.equal(await countOf('invalid'), 1);
});

const entities = [...'bcdefghij']
  .map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghi'[at]};`.repeat(10)}">`)
  .join('');
const groups = Array.from({ length: 30 }, (_, at) => `<g id="g${at + 1}">${`<use href="#g${at}"/>`.repeat(10)}</g>`);
const blur = '<feGaussianBlur stdDeviation="500"/>'.repeat(100);
const layers = 60;

/** Pictures that exhaust time, memory or the stack of a careless program. */
const bombs: Readonly<Record<string, string>> = {
  'a billion laughs': `<!DOCTYPE svg [<!ENTITY a "xxxxxxxxxx">${entities}]>${svgOf('<text>&j;</text>')}`,
  'groups that repeat groups': svgOf(
    `<defs><g id="g0"><path d="M0 0"/></g>${groups.join('')}</defs><use href="#g30"/>`,
  ),
  'deep nesting': svgOf('<g>'.repeat(100_000) + '</g>'.repeat(100_000)),
  'a million elements': svgOf('<b/>'.repeat(1_000_000)),
  'many elements below the limit': svgOf('<rect width="9" height="9"/>'.repeat(36_000)),
  'a huge size': svgOf('<path d="M0 0"/>', 'width="1e9" height="1e9"'),
  'a huge view box': svgOf('<path d="M0 0"/>', 'viewBox="0 0 1e30 1e30"'),
  'a line without height': svgOf('<path d="M0 0"/>', 'width="30000" height="0.001"'),
  'no number as size': svgOf('', 'width="NaN" height="-1"'),
  'gradients that refer to each other': svgOf(
    '<linearGradient id="a" xlink:href="#b"/><linearGradient id="b" xlink:href="#a"/><path fill="url(#a)" d="M0 0H9V9"/>',
  ),
  'a pattern that fills itself': svgOf(
    '<pattern id="p" width="9" height="9"><rect fill="url(#p)" width="9" height="9"/></pattern><rect fill="url(#p)" width="9" height="9"/>',
  ),
  'a hundred blurs': svgOf(
    `<filter id="f">${blur}</filter><rect width="2000" height="2000" filter="url(#f)"/>`,
    'width="2000" height="2000"',
  ),
  'layers on layers': svgOf(
    '<g opacity=".9"><rect width="2000" height="2000"/>'.repeat(layers) + '</g>'.repeat(layers),
    'width="2000" height="2000"',
  ),
  'a picture in a picture': svgOf(
    `<image width="9" height="9" href="data:image/svg+xml;base64,${Buffer.from(svgOf('<g>'.repeat(9_000))).toString('base64')}"/>`,
  ),
  'a shape outside of the picture': svgOf('<rect x="2214" y="866" width="163px" height="90px" opacity="0.1"/>'),
  'no XML': '<svg',
};

test('hostile pictures are converted or refused within the limits', async (t) => {
  const { converter } = open(t, { convertMs: 2_000 });
  for (const [name, svg] of Object.entries(bombs)) {
    const started = performance.now();
    const png = await convert(converter, svg);
    const size = png === undefined ? 'no picture' : `${png.width} × ${png.height}`;
    t.diagnostic(`${name}: ${size}, ${Math.round(performance.now() - started)} ms`);
    assert.ok(png === undefined || Math.max(png.width, png.height) <= pictureLimits.side, name);
  }
  assert.ok(await convert(converter, svgOf('')));
});

test('the picture of a project is converted while another project has ten that take too long', async (t) => {
  const { converter, countOf } = open(t, { convertMs: 1_000 });
  const bomb = Buffer.from(bombs['a hundred blurs'] ?? '');
  const leaving = new AbortController();
  const slow = Array.from({ length: 10 }, () => converter.toPng(bomb, owner('one'), leaving.signal));
  const png = await convert(converter, svgOf('<rect width="50" height="50" fill="red"/>'), 'two');
  assert.deepEqual(png && pixelAt(png, 9, 9), red);
  assert.ok((await countOf('timed_out')) <= 2);
  leaving.abort();
  await Promise.all(slow);
});

test('a picture that takes too long or too much memory ends its process, and the next one is converted', async (t) => {
  const { converter, countOf } = open(t, { convertMs: 1_000 });
  assert.ok(!(await convert(converter, bombs['a hundred blurs'] ?? '')));
  assert.equal(await countOf('timed_out'), 1);
  assert.ok(await convert(converter, svgOf('')));
  assert.ok(!(await convert(converter, bombs['a shape outside of the picture'] ?? '')));
  assert.equal(await countOf('crashed'), 1);
  assert.ok(await convert(converter, svgOf('')));
});

test('a picture that refers to other files is not converted, and no reference is followed', async (t) => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
  const { converter } = open(t);
  const image = (href: string) => svgOf(`<image width="99" height="49" xlink:href="${href}"/>`);
  assert.ok(!(await convert(converter, image(url))));
  const references = [
    image('/etc/passwd'),
    image(`file://${import.meta.dirname}/roboto/regular.ttf`),
    svgOf(
      `<style>@import url("${url}"); @font-face { font-family: x; src: url("${url}"); } text { font-family: x }</style>`,
    ),
    svgOf(`<use xlink:href="${url}#a"/><script href="${url}"/><foreignObject><iframe src="${url}"/></foreignObject>`),
    `<?xml-stylesheet href="${url}"?><!DOCTYPE svg [<!ENTITY x SYSTEM "${url}">]>${svgOf('<text y="9">&x;</text>')}`,
    `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svgOf('<text y="9">&x;</text>')}`,
  ];
  for (const svg of references) {
    const png = await convert(converter, svg);
    assert.ok(png === undefined || countDark(png) === 0, svg);
  }
  assert.equal(requests, 0);
});

test('a conversion waits no longer than its caller, and closing the converter ends running conversions', async (t) => {
  const { converter, countOf } = open(t, { convertMs: 60_000 });
  const slow = convert(converter, bombs['a hundred blurs'] ?? '');
  const leaving = new AbortController();
  const waiting = converter.toPng(Buffer.from(svgOf('')), owner('one'), leaving.signal);
  leaving.abort();
  assert.ok(!(await waiting));
  assert.equal(await countOf('refused'), 1);
  await converter.close();
  assert.ok(!(await slow));
});

test('the process that converts has a lower priority than the server', async (t) => {
  const { converter } = open(t);
  await convert(converter, svgOf('<rect width="9" height="9"/>'));
  const children = childrenOf(process.pid);
  assert.deepEqual(
    children.map((pid) => getPriority(pid)),
    [getPriority() + 10],
  );
  // Linux schedules a session as a whole when it has autogroups.
  if (!existsSync('/proc/self/autogroup')) return;
  for (const pid of children) {
    assert.match(readFileSync(`/proc/${pid}/autogroup`, 'utf8'), new RegExp(` nice ${getPriority() + 10}\\n$`));
  }
});
