import type { Figures } from './contest.ts';

const titles: Readonly<Record<string, string>> = {
  uploads: 'Uploads',
  questions: 'Questions, words only',
  vectors: 'Nearest vectors',
  tools: 'Calls of a tool over MCP',
  extraction: 'Text of documents',
};
const isOurs = ({ system }: Figures) => system.startsWith('Quartermaster');
const number = (value: number | undefined) =>
  value === undefined || !Number.isFinite(value)
    ? '–'
    : value >= 99.5
      ? Math.round(value).toLocaleString('en')
      : value.toPrecision(2);

/** Returns a table in Markdown for each group. */
export function describe(rows: readonly Figures[]): string {
  const groups = [...new Set(rows.map((row) => row.group))];
  return groups
    .map((group) =>
      describeGroup(
        group,
        rows.filter((row) => row.group === group),
      ),
    )
    .join('\n\n');
}

function describeGroup(group: string, rows: readonly Figures[]): string {
  const heads = ['work', 'system', 'a second', 'p50 ms', 'p99 ms', 'processor ms', 'memory MiB', 'checked'];
  const cells = rows.map((row, place) => [
    ...[row.work === rows[place - 1]?.work ? '' : row.work, isOurs(row) ? `**${row.system}**` : row.system],
    ...[row.perSecond, row.p50, row.p99, row.processorMs, row.memoryMb].map(number),
    row.checked,
  ]);
  const versions = [...new Set(rows.filter((row) => !isOurs(row)).map((row) => [row.system, row.version].join(': ')))];
  const lines = [heads, heads.map((_, place) => (place > 1 && place < 7 ? '--:' : '---')), ...cells];
  return [
    `### ${titles[group]}`,
    lines.map((line) => `| ${line.join(' | ')} |`).join('\n'),
    `${[...new Set(rows.map(({ effort }) => effort))].join('; ')}. Versions: ${versions.join('; ')}.`,
  ].join('\n\n');
}

const style = `text{font:13px system-ui,sans-serif;fill:#24292f}.h{font-weight:600;font-size:15px}.w{fill:#57606a}.v{font-size:12px}.b{font-weight:600}
.o{fill:#0969da}.p{fill:#8c959f}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.w{fill:#9198a1}.o{fill:#4493f8}.p{fill:#6e7681}}`;
const width = 880;
const line = 20;
/** What is drawn beside each name: a value, where its bars begin, and how long the longest is. */
const columns = [
  { title: 'median time, ms', value: (row: Figures) => row.p50, x: 280, longest: 240 },
  { title: 'processor time, ms', value: (row: Figures) => row.processorMs, x: 590, longest: 220 },
];

/** Draws the times of one operation as bars, as an SVG that is readable in light and dark. More connections are in the table only. */
export function draw(rows: readonly Figures[]): string {
  const parts: string[] = [];
  let [y, last] = [20, { group: '', work: '' }];
  const write = (x: number, text: string, kind: string) =>
    parts.push(
      `<text x="${x.toFixed(0)}" y="${y}" class="${kind}">${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`,
    );
  for (const row of rows.filter(({ group, work }) => group === 'uploads' || !work.endsWith(' 8 connections'))) {
    if (row.group !== last.group) {
      y += 32;
      write(10, titles[row.group] ?? '', 'h');
      if (last.group === '') for (const { title, x } of columns) write(x, `${title} (shorter is better)`, 'w');
    }
    if (row.work !== last.work) {
      y += 24;
      write(10, row.work, 'w');
    }
    last = row;
    y += line;
    write(24, row.system, isOurs(row) ? 'v b' : 'v');
    for (const { value, x, longest } of columns) {
      const most = Math.max(...rows.filter(({ work }) => work === row.work).map((one) => value(one) ?? 0));
      const length = Math.max(2, ((value(row) ?? 0) / most) * longest);
      const bar = `x="${x}" y="${y - 11}" width="${length.toFixed(1)}" height="13" rx="2"`;
      if (value(row) !== undefined) parts.push(`<rect ${bar} class="${isOurs(row) ? 'o' : 'p'}"/>`);
      write(x + (value(row) === undefined ? 0 : length + 6), number(value(row)), 'v');
    }
  }
  const about = 'Median and processor times of one operation beside peers';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 16}" role="img" aria-label="${about}"><style>${style}</style>
${parts.join('\n')}
</svg>`;
}
