import type { Handler, HandlerContext } from '@quartermaster/plugin-kit';

/** The inputs of all plugins of this bundle. Their schemas limit sizes and ranges. */
interface Input {
  readonly title?: string;
  readonly x_title?: string;
  readonly y_title?: string;
  readonly x_values?: readonly (number | string)[];
  readonly y_values?: readonly number[];
  readonly values?: readonly number[];
  readonly labels?: readonly string[];
  readonly bins?: number;
  readonly width: number;
  readonly height: number;
}

/** All charts are in one file, because they share axes, text and colours, and a handler is one file. */
const charts: Readonly<Record<string, (input: Input, context: HandlerContext) => string>> = {
  make_bar_chart: drawBars,
  make_line_chart: (input, context) => drawPoints(input, context, true),
  make_scatter_plot: (input, context) => drawPoints(input, context, false),
  make_histogram: drawHistogram,
  make_2d_histogram: drawHeat,
  make_pie_chart: drawPie,
};

export const run: Handler<Input, { url: string; svg: string }> = (input, context) => {
  const draw = charts[context.plugin];
  if (draw === undefined) throw new Error(`there is no chart for ${context.plugin}`);
  const { width, height, title } = input;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="sans-serif" font-size="12" fill="#343a40">`,
    ...(title === undefined ? [] : [`<title>${escaped(title)}</title>`]),
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    draw(input, context),
    ...(title === undefined ? [] : [text(title, { x: width / 2, y: 24, size: 16, maxWidth: width - 20 })]),
    '</svg>',
  ].join('');
  return { url: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`, svg };
};

const palette = ['#1c7ed6', '#f76707', '#37b24d', '#f03e3e', '#7048e8', '#0ca678', '#f59f00', '#d6336c', '#495057'];
const colour = (index: number): string => palette[index % palette.length] ?? '#1c7ed6';

function drawBars(input: Input, context: HandlerContext): string {
  const { x_values: names = [], y_values: values = [] } = input;
  sameLength({ x_values: names, y_values: values }, context);
  const y = axisOf([0, ...values]);
  const plot = plotOf(input, y);
  const band = (plot.right - plot.left) / names.length;
  const zero = plot.y(0);
  const bars = values.map((value, index) => {
    const at = plot.y(value);
    return rectangle({
      x: plot.left + band * (index + 0.1),
      y: Math.min(at, zero),
      w: band * 0.8,
      h: Math.abs(at - zero),
    });
  });
  const every = Math.ceil(names.length / Math.max(1, Math.floor((plot.right - plot.left) / 60)));
  const labels = names.flatMap((name, index) =>
    index % every === 0
      ? [text(String(name), { x: plot.left + band * (index + 0.5), y: plot.bottom + 16, maxWidth: band * every })]
      : [],
  );
  return [
    plot.frame,
    `<g fill="${colour(0)}">${bars.join('')}</g>`,
    `<g stroke="#868e96">${line(plot.left, zero, plot.right, zero)}</g>`,
    ...labels,
  ].join('');
}

function drawPoints(input: Input, context: HandlerContext, isLine: boolean): string {
  const { x_values = [], y_values = [] } = input;
  sameLength({ x_values, y_values }, context);
  const xs = x_values.map(Number);
  const x = axisOf(xs);
  const plot = plotOf(input, axisOf(y_values), x);
  const points = xs.map((value, index) => [round(plot.x(value)), round(plot.y(y_values[index] ?? 0))] as const);
  const path = points.map(([px, py], index) => `${index === 0 ? 'M' : 'L'}${px} ${py}`).join('');
  // A line of no length with round ends is a dot, in a tenth of the text a circle takes.
  const dots = points.map(([px, py]) => `M${px} ${py}h0`).join('');
  const hasDots = !isLine || points.length <= 60;
  return [
    plot.frame,
    isLine ? `<path d="${path}" fill="none" stroke="${colour(0)}" stroke-width="2" stroke-linejoin="round"/>` : '',
    hasDots ? `<path d="${dots}" fill="none" stroke="${colour(0)}" stroke-width="6" stroke-linecap="round"/>` : '',
  ].join('');
}

function drawHistogram(input: Input): string {
  const { values = [] } = input;
  const x = axisOf(values);
  const bins = input.bins ?? Math.min(100, Math.ceil(Math.log2(values.length)) + 1);
  const counts = new Array<number>(bins).fill(0);
  for (const bin of values.map((value) => binOf(value, x, bins))) counts[bin] = (counts[bin] ?? 0) + 1;
  const plot = plotOf({ ...input, y_title: input.y_title ?? 'Count' }, axisOf([0, ...counts]), x);
  const band = (plot.right - plot.left) / bins;
  const bars = counts.map((count, index) =>
    rectangle({ x: plot.left + band * index + 0.5, y: plot.y(count), w: band - 1, h: plot.bottom - plot.y(count) }),
  );
  return `${plot.frame}<g fill="${colour(0)}">${bars.join('')}</g>`;
}

function drawHeat(input: Input, context: HandlerContext): string {
  const { x_values = [], y_values = [] } = input;
  sameLength({ x_values, y_values }, context);
  const xs = x_values.map(Number);
  const [x, y] = [axisOf(xs), axisOf(y_values)];
  const bins = input.bins ?? Math.min(50, Math.max(5, Math.ceil(Math.sqrt(xs.length))));
  const counts = new Map<number, number>();
  for (const [index, value] of xs.entries()) {
    const cell = binOf(y_values[index] ?? 0, y, bins) * bins + binOf(value, x, bins);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  const plot = plotOf(input, y, x);
  const [w, h] = [(plot.right - plot.left) / bins, (plot.bottom - plot.top) / bins];
  const cells = [...counts].map(([cell, count]) => {
    const [column, row] = [cell % bins, Math.floor(cell / bins)];
    const box = rectangle({ x: plot.left + column * w, y: plot.bottom - (row + 1) * h, w, h });
    return box.replace('/>', ` fill-opacity="${round(0.15 + (0.85 * count) / most)}"/>`);
  });
  const legend = text(`darkest: ${most}`, { x: plot.right, y: plot.top - 6, anchor: 'end', size: 11 });
  return `${plot.frame}<g fill="${colour(0)}">${cells.join('')}</g>${legend}`;
}

function drawPie(input: Input, context: HandlerContext): string {
  const { labels = [], values = [], width, height } = input;
  sameLength({ labels, values }, context);
  const total = values.reduce((sum, value) => sum + value, 0);
  if (total <= 0) context.reject('the values of a pie chart must have a sum above 0');
  const top = input.title === undefined ? 12 : 40;
  const radius = Math.min((height - top - 12) / 2, width / 4);
  const [cx, cy] = [12 + radius, top + radius];
  const lines = Math.max(1, Math.floor((height - top - 12) / 18));
  let turned = 0;
  const slices = values.map((value, index) => {
    const part = value / total;
    const slice = wedge([cx, cy], radius, [turned, turned + part]);
    turned += part;
    return value === 0 ? '' : `<g fill="${colour(index)}" stroke="#fff">${slice}</g>`;
  });
  const legend = labels.slice(0, lines).map((label, index) => {
    const y = top + 12 + index * 18;
    const isRest = index === lines - 1 && labels.length > lines;
    const caption = isRest
      ? `… ${labels.length - index} more`
      : `${label} (${Number((((values[index] ?? 0) / total) * 100).toPrecision(3))} %)`;
    const box = isRest
      ? ''
      : `<g fill="${colour(index)}">${rectangle({ x: cx + radius + 20, y: y - 10, w: 11, h: 11 })}</g>`;
    return box + text(caption, { x: cx + radius + 38, y, anchor: 'start', maxWidth: width - cx - radius - 46 });
  });
  return [...slices, ...legend].join('');
}

/** A part of a circle, from one part of a turn to another, clockwise from above; all of it is a circle. */
function wedge([cx, cy]: readonly [number, number], radius: number, [from, to]: readonly [number, number]): string {
  if (to - from >= 1) return `<circle cx="${round(cx)}" cy="${round(cy)}" r="${round(radius)}"/>`;
  const at = (turn: number) =>
    `${round(cx + radius * Math.sin(turn * 2 * Math.PI))} ${round(cy - radius * Math.cos(turn * 2 * Math.PI))}`;
  return `<path d="M${round(cx)} ${round(cy)}L${at(from)}A${round(radius)} ${round(radius)} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)}Z"/>`;
}

/** A range whose ends and steps are round numbers. */
interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

function axisOf(values: readonly number[]): Axis {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  // Too close to each other to be distinguished; the chart spreads them.
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const margin = largest > 1e-90 ? largest * 0.1 : 1;
  if (high - low <= Math.max(largest * 1e-9, 1e-100)) [low, high] = [low - margin, high + margin];
  const step = roundStep((high - low) / 6);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => {
    const value = (first + index) * step;
    return { value, label: labelOf(value, step) };
  });
  return { low: first * step, high: last * step, ticks };
}

/** 1, 2 or 5 and as many zeros as it takes. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
}

function labelOf(value: number, step: number): string {
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e7 || step < 1e-6) return value === 0 ? '0' : String(Number(value.toPrecision(10))).slice(0, 14);
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
}

function binOf(value: number, { low, high }: Axis, bins: number): number {
  return Math.min(bins - 1, Math.max(0, Math.floor(((value - low) / (high - low)) * bins)));
}

/** The geometry of the plot and its surroundings. */
interface Plot {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  /** Grid, axes and their labels. */
  readonly frame: string;
}

function plotOf(input: Input, y: Axis, x?: Axis): Plot {
  const { width, height, title, x_title, y_title } = input;
  const widest = Math.max(...y.ticks.map(({ label }) => label.length)) * 7;
  const left = Math.min(width / 3, widest + 14) + (y_title === undefined ? 0 : 20);
  const right = width - Math.max(20, (x?.ticks.at(-1)?.label.length ?? 0) * 3.5 + 4);
  const top = title === undefined ? 20 : 44;
  const bottom = height - (x_title === undefined ? 30 : 50);
  const along =
    ({ low, high }: Axis, from: number, to: number) =>
    (value: number) =>
      from + ((value - low) / (high - low)) * (to - from);
  const toX = x === undefined ? () => left : along(x, left, right);
  const toY = along(y, bottom, top);
  const most = Math.max(2, Math.floor((right - left) / 60));
  const every = x === undefined ? 1 : Math.ceil(x.ticks.length / most);
  const frame = [
    `<g stroke="#dee2e6">${y.ticks.map(({ value }) => line(left, toY(value), right, toY(value))).join('')}</g>`,
    `<g stroke="#868e96">${line(left, bottom, right, bottom)}${line(left, top, left, bottom)}</g>`,
    ...y.ticks.map(({ value, label }) => text(label, { x: left - 6, y: toY(value) + 4, anchor: 'end', size: 11 })),
    ...(x?.ticks ?? []).flatMap(({ value, label }, index) =>
      index % every === 0 ? [text(label, { x: toX(value), y: bottom + 16, size: 11 })] : [],
    ),
    ...(x_title === undefined
      ? []
      : [text(x_title, { x: (left + right) / 2, y: height - 12, maxWidth: right - left })]),
    ...(y_title === undefined
      ? []
      : [text(y_title, { x: 16, y: (top + bottom) / 2, turned: true, maxWidth: bottom - top })]),
  ];
  return { left, right, top, bottom, x: toX, y: toY, frame: frame.join('') };
}

function sameLength(lists: Readonly<Record<string, readonly unknown[]>>, context: HandlerContext): void {
  const [[first, { length }] = ['', []], [second, other] = ['', []]] = Object.entries(lists);
  if (length !== other.length) context.reject(`${first} has ${length} items and ${second} ${other.length}`);
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size?: number;
  /** The text is cut off at this width, in pixels. */
  readonly maxWidth?: number;
  readonly turned?: boolean;
}

function text(content: string, { x, y, anchor = 'middle', size = 12, maxWidth, turned = false }: TextPlace): string {
  const most = maxWidth === undefined ? content.length : Math.max(1, Math.floor(maxWidth / (size * 0.6)));
  const whole = [...content];
  const shown = whole.length > most ? `${whole.slice(0, most - 1).join('')}…` : content;
  const at = turned ? `transform="translate(${round(x)} ${round(y)}) rotate(-90)"` : `x="${round(x)}" y="${round(y)}"`;
  return `<text ${at} text-anchor="${anchor}" font-size="${size}">${escaped(shown)}</text>`;
}

function rectangle({ x, y, w, h }: { x: number; y: number; w: number; h: number }): string {
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, w))}" height="${round(Math.max(0, h))}"/>`;
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  return `<path d="M${round(x1)} ${round(y1)}L${round(x2)} ${round(y2)}" stroke-width="1"/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** XML cannot contain control characters in any form. */
function escaped(content: string): string {
  return content
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
