import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { run } from '../../bundles/chart_maker/chart.ts';
import { parseXml, type XmlElement } from '../../packages/server/src/tools/execution/upstream-answers/xml-tree.ts';
import { context, Rejected } from './handler-context.ts';

type Input = Parameters<typeof run>[0];
const size = { width: 640, height: 400 };

async function draw(plugin: string, input: Partial<Input>): Promise<XmlElement> {
  const { svg, url } = await run({ ...size, ...input }, { ...context, plugin });
  assert.equal(Buffer.from(url.replace('data:image/svg+xml;base64,', ''), 'base64').toString(), svg);
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  const parsed = parseXml(svg);
  assert.ok('root' in parsed, JSON.stringify(parsed));
  return parsed.root;
}

function all(element: XmlElement, name: string): XmlElement[] {
  return [...(element.name === name ? [element] : []), ...element.children.flatMap((child) => all(child, name))];
}

const numberOf = (element: XmlElement, name: string) => Number(element.attributes[name]);
const texts = (root: XmlElement) => all(root, 'text').map(({ text }) => text);
/** Returns all rectangles except the white background. */
const boxes = (root: XmlElement) => all(root, 'rect').slice(1);

test('bars extend from zero to their values, upwards and downwards', async () => {
  const root = await draw('make_bar_chart', { x_values: ['a', 'b', 'c'], y_values: [4, -2, 0] });
  const [a, b, c] = boxes(root);
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  assert.ok(Math.abs(numberOf(a, 'height') - 2 * numberOf(b, 'height')) < 0.3);
  assert.ok(Math.abs(numberOf(a, 'y') + numberOf(a, 'height') - numberOf(b, 'y')) < 0.3);
  assert.equal(numberOf(c, 'height'), 0);
  assert.deepEqual(texts(root).slice(-3), ['a', 'b', 'c']);
  assert.ok(['-2', '0', '4'].every((label) => texts(root).includes(label)));
});

test('points are drawn at their coordinates, in the given order', async () => {
  const root = await draw('make_line_chart', { x_values: [10, 0, 5], y_values: [0, 100, 50] });
  const path = all(root, 'path').find(({ attributes }) => attributes['stroke-width'] === '2')?.attributes.d ?? '';
  const points = [...path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
  const [first, second, third] = points;
  assert.ok(first !== undefined && second !== undefined && third !== undefined && points.length === 3);
  assert.ok(first[0] > third[0] && third[0] > second[0] && first[1] > third[1] && third[1] > second[1]);
  assert.ok(Math.abs((first[0] + second[0]) / 2 - third[0]) < 0.2);
  assert.ok(Math.abs((first[1] + second[1]) / 2 - third[1]) < 0.2);
});

test('every value is counted once in a histogram, and every pair in one of two dimensions', async () => {
  const values = [1, 1, 2, 5, 9, 9, 9, 10];
  const root = await draw('make_histogram', { values, bins: 3 });
  const heights = boxes(root).map((box) => numberOf(box, 'height'));
  const one = heights.reduce((sum, height) => sum + height, 0) / values.length;
  assert.deepEqual(
    heights.map((height) => Math.round(height / one)),
    [3, 1, 4],
  );
  const heat = await draw('make_2d_histogram', { x_values: [0, 0, 10], y_values: [0, 0, 10], bins: 2 });
  assert.deepEqual(
    boxes(heat).map((box) => box.attributes['fill-opacity']),
    ['1', '0.6'],
  );
});

test('the slices of a pie chart add up to a full circle and show their shares', async () => {
  const root = await draw('make_pie_chart', { labels: ['half', 'none', 'rest'], values: [2, 0, 2] });
  assert.equal(all(root, 'path').length, 2);
  assert.deepEqual(texts(root), ['half (50 %)', 'none (0 %)', 'rest (50 %)']);
  assert.equal(all(await draw('make_pie_chart', { labels: ['all'], values: [7] }), 'circle').length, 1);
});

test('texts are displayed unchanged and cannot close an element', async () => {
  const title = '</text><script>alert("1")</script> & 图表 \u0007';
  const root = await draw('make_bar_chart', { title, x_values: [title], y_values: [1], y_title: '"quoted"' });
  assert.equal(all(root, 'script').length, 0);
  assert.equal(all(root, 'title')[0]?.text, title.replace('\u0007', '').trim());
  assert.ok(texts(root).includes('"quoted"'));
});

test('the picture contains everything, whatever the numbers are', async () => {
  const number = fc.oneof(
    fc.double({ min: -1e100, max: 1e100, noNaN: true }),
    fc.integer({ min: -5, max: 5 }),
    fc.constantFrom(0, 1e-300, 1e9 + 1e-7, -1e100, 1e100),
  );
  const numbers = fc.array(number, { minLength: 1, maxLength: 40 });
  const plugins = ['make_bar_chart', 'make_line_chart', 'make_scatter_plot', 'make_histogram', 'make_2d_histogram'];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...plugins), numbers, async (plugin, values) => {
      const root = await draw(plugin, { x_values: values, y_values: values.toReversed(), values });
      for (const box of boxes(root)) {
        assert.ok(numberOf(box, 'x') >= 0 && numberOf(box, 'x') + numberOf(box, 'width') <= size.width);
        assert.ok(numberOf(box, 'y') >= 0 && numberOf(box, 'y') + numberOf(box, 'height') <= size.height);
      }
      const drawn = all(root, 'path').flatMap(({ attributes }) => [
        ...(attributes.d ?? '').matchAll(/[ML](\S+) ([\d.-]+)/g),
      ]);
      for (const [, x, y] of drawn) {
        assert.ok(Number(x) >= 0 && Number(x) <= size.width && Number(y) >= 0 && Number(y) <= size.height, `${x} ${y}`);
      }
      assert.ok(all(root, 'text').length < 60);
    }),
    { numRuns: 300 },
  );
});

test('lists of different lengths and an empty pie are bad input', async () => {
  await assert.rejects(draw('make_line_chart', { x_values: [1], y_values: [1, 2] }), Rejected);
  await assert.rejects(draw('make_pie_chart', { labels: ['a'], values: [0] }), Rejected);
});

test('the largest chart fits within the limits of an output', async () => {
  const x_values = Array.from({ length: 10_000 }, (_, at) => Math.sin(at) * 1000);
  for (const plugin of ['make_scatter_plot', 'make_line_chart', 'make_2d_histogram']) {
    const output = await run(
      { width: 4000, height: 4000, x_values, y_values: x_values.toReversed() },
      { ...context, plugin },
    );
    assert.ok(JSON.stringify(output).length < 1024 * 1024, plugin);
  }
});
