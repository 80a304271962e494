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
  value === undefined ? '–' : value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(2);

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
    `Versions: ${versions.join('; ')}.`,
  ].join('\n\n');
}

const style = `text{font:13px system-ui,sans-serif;fill:#24292f}.h{font-weight:600;font-size:15px}.w{fill:#57606a}.v{font-size:12px}
.o{fill:#0969da}.p{fill:#8c959f}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.w{fill:#9198a1}.o{fill:#4493f8}.p{fill:#6e7681}}`;
const [width, labels, line] = [880, 330, 20];

/** Draws the median time of each operation as a bar, as an SVG that is readable in light and dark. */
export function draw(rows: readonly Figures[]): string {
  const parts: string[] = [];
  let [y, group, work] = [28, '', ''];
  const write = (x: number, text: string, kind: string) =>
    parts.push(`<text x="${x}" y="${y}" class="${kind}">${escapeXml(text)}</text>`);
  write(10, 'Median time of one operation in milliseconds; shorter is better. Each block has its own scale.', 'w');
  for (const row of rows) {
    if (row.group !== group) {
      y += 34;
      write(10, titles[row.group] ?? '', 'h');
    }
    if (row.group !== group || row.work !== work) {
      y += 24;
      write(10, row.work, 'w');
    }
    [group, work] = [row.group, row.work];
    const longest = Math.max(...rows.filter((one) => one.group === group && one.work === work).map((one) => one.p50));
    const length = Math.max(2, (row.p50 / longest) * (width - labels - 90));
    y += line;
    write(24, row.system, isOurs(row) ? 'h v' : 'v');
    parts.push(
      `<rect x="${labels}" y="${y - 11}" width="${length.toFixed(1)}" height="13" rx="2" class="${isOurs(row) ? 'o' : 'p'}"/>`,
    );
    write(labels + length + 6, number(row.p50), 'v');
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 16}" role="img" aria-label="Median times beside peers"><style>${style}</style>
${parts.join('\n')}
</svg>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
