import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import jsqr from 'jsqr';
import { connectMcp } from '../support/mcp-clients.ts';
import { countDark, pixelAt, readPng } from '../support/png.ts';
import { type StartedService, startService, temporaryFolder } from '../support/service.ts';
import { writeBundle } from '../support/write-bundle.ts';

/** A plugin that returns the SVG of its input, with elements in place of the empty comment. */
const drawing = {
  'handler.ts':
    'export const run = ({ svg, elements = 0 }) => ({ svg: svg.replace("<!---->", "<b/>".repeat(elements)) });',
  'draw.yaml': `id: draw
name: Draw
description: Returns the drawing.
handler: handler.ts
input_schema:
  type: object
  required: [svg]
  properties:
    svg: {type: string, maxLength: 1000000, description: The drawing.}
    elements: {type: integer, minimum: 0, maximum: 1000000, description: The number of elements.}
output_schema:
  type: object
  properties: {svg: {type: string, description: The drawing.}}
effects: read
idempotent: true
`,
};

async function connect(t: TestContext, { pluginsUrl, key }: StartedService, bundle: string, revision = '2026-07-28') {
  const client = await connectMcp(t, `${pluginsUrl}/mcp/${bundle}`, { Authorization: `Bearer ${key}` }, revision);
  return async (name: string, input: Record<string, unknown>) => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
    assert.notEqual(isError, true, JSON.stringify(content).slice(0, 500));
    const images = content.filter((block) => block.type === 'image');
    const links = content.filter((block) => block.type === 'resource_link');
    const texts = JSON.stringify([content.filter((block) => block.type === 'text'), structuredContent]);
    return { images, links, texts };
  };
}

type Result = Awaited<ReturnType<Awaited<ReturnType<typeof connect>>>>;

/** Decodes the only picture of a result. */
function pictureOf({ images, texts }: Result) {
  const [image] = images;
  assert.ok(image && images.length === 1, `${images.length} pictures`);
  assert.equal(image.mimeType, 'image/png');
  assert.ok(!texts.includes(image.data.slice(0, 100)), 'no base64 in the text');
  return readPng(Buffer.from(image.data, 'base64'));
}

const charts: ReadonlyArray<readonly [tool: string, input: Record<string, unknown>]> = [
  ['make_bar_chart', { title: 'Rain in Tōkyō', x_values: ['May', 'June'], y_values: [3, 5] }],
  ['make_line_chart', { title: 'Дождь', x_values: [1, 2, 3], y_values: [3, 5, 4] }],
  ['make_pie_chart', { labels: ['a', 'b'], values: [1, 2] }],
];

test('[pictures] a chart of a bundle of the product is one PNG with lines, text and colours, and a link to its SVG', async (t) => {
  const service = await startService(t);
  for (const revision of ['2026-07-28', '2025-11-25']) {
    const call = await connect(t, service, 'chart_maker', revision);
    for (const [tool, input] of charts) {
      const result = await call(tool, input);
      const png = pictureOf(result);
      assert.deepEqual([png.width, png.height], [640, 400]);
      assert.deepEqual(pixelAt(png, 1, 1), [255, 255, 255, 255]);
      const blue = png.data.filter((red, at) => at % 4 === 0 && red === 0x1c && png.data[at + 2] === 0xd6).length;
      assert.ok(blue > 500, `${tool}: ${blue} pixels in the first colour`);
      assert.ok(countDark(png) > 1000, tool);
      assert.deepEqual(
        result.links.map(({ mimeType }) => mimeType),
        ['image/svg+xml'],
      );
      const svg = await (await fetch(String(result.links[0]?.uri))).text();
      assert.match(svg, /^<svg/);
    }
  }
  const metrics = await (await fetch(`${service.pluginsUrl}/metrics`)).text();
  assert.match(metrics, /quartermaster_svg_conversions_total\{result="converted"\} 6/);
});

test('[pictures] a QR code of a bundle of the product is one PNG that can be read, and two links', async (t) => {
  const call = await connect(t, await startService(t), 'qr_code_generator');
  const result = await call('generate_qr_code', { text: 'https://example.com/' });
  const { data, width, height } = pictureOf(result);
  assert.equal(jsqr.default(new Uint8ClampedArray(data), width, height)?.data, 'https://example.com/');
  assert.deepEqual(
    result.links.map(({ mimeType }) => mimeType),
    ['image/png', 'image/svg+xml'],
  );
});

const svgOf = (content: string, attributes = 'width="100" height="50"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${content}</svg>`;
const dataUrlOf = (svg: string) => `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
const entities = [...'bcdefghij']
  .map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghi'[at]};`.repeat(10)}">`)
  .join('');

test('[pictures] a hostile SVG is only a link, and other calls get responses in the meantime', async (t) => {
  const bundles = await writeBundle(await temporaryFolder(t), 'drawing', drawing);
  const service = await startService(t, { settings: { BUNDLES: bundles, ISOLATION: 'process' } });
  const call = await connect(t, service, 'drawing');
  const hostile = [
    // As text, it is not a known media format.
    dataUrlOf(`<!DOCTYPE svg [<!ENTITY a "xxxxxxxxxx">${entities}]>${svgOf('<text>&j;</text>')}`),
    svgOf('<path d="M0 0"/>', 'viewBox="0 0 1e9 1e9"'),
    svgOf('<!---->'),
    svgOf(`<image width="9" height="9" href="${service.filesUrl}/v1/version"/>`),
    svgOf(
      `<filter id="f">${'<feGaussianBlur stdDeviation="500"/>'.repeat(200)}</filter><rect width="2000" height="2000" filter="url(#f)"/>`,
      'width="2000" height="2000"',
    ),
  ];
  const calls = hostile.map((svg) => call('draw', { svg, elements: 1_000_000 }));
  const started = performance.now();
  const health = await fetch(`${service.pluginsUrl}/v1/health_check`);
  t.diagnostic(`health check: ${Math.round(performance.now() - started)} ms`);
  assert.equal(health.status, 200);
  for (const { images, links } of await Promise.all(calls)) {
    assert.deepEqual([images.length, links.length], [0, 1]);
    assert.equal(links[0]?.mimeType, 'image/svg+xml');
  }
  // Endless references of gradients are drawn without a colour, as browsers do.
  const gradients = svgOf(
    '<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/><rect fill="url(#a)" width="9" height="9"/><rect x="50" width="50" height="50" fill="#f00"/>',
  );
  const png = pictureOf(await call('draw', { svg: gradients }));
  assert.deepEqual(pixelAt(png, 75, 25), [255, 0, 0, 255]);
  assert.deepEqual(pixelAt(png, 4, 4), [255, 255, 255, 255]);
});
