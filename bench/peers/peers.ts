import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeerPackages } from '../../scripts/set-up/install-packages.mjs';
import { type Figures, packageFile } from './contest.ts';
import { contestExtraction } from './extraction-contest.ts';
import { describe, draw } from './report.ts';
import { contestQuestions, contestVectors } from './search-contest.ts';
import { contestTools } from './tool-contest.ts';
import { contestUploads } from './upload-contest.ts';

const page = 'docs/performance.md';

/** Measures this tree and what people would use instead, side by side, and writes a table and a plot. */
export async function measurePeers(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: 'uploads,questions,vectors,tools,extraction' },
      sizes: { type: 'string', default: '1000,10000,100000' },
      vectors: { type: 'string', default: '10000,100000' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      docs: { type: 'boolean', default: false },
    },
  });
  await installPeerPackages();
  if (!existsSync(packageFile('hnswlib-node/build/Release/addon.node')))
    execFileSync('npm', ['rebuild', 'hnswlib-node', '--prefix', import.meta.dirname], { stdio: 'inherit' });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const effort = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
  const sizesOf = (list: string) => list.split(',').map(Number);
  const contests: Readonly<Record<string, (data: string) => Promise<Figures[]>>> = {
    uploads: (data) => contestUploads(data, version, effort),
    questions: (data) =>
      each(sizesOf(values.sizes), (size) => contestQuestions(join(data, `${size}`), { version, size, ...effort })),
    vectors: (data) =>
      each(sizesOf(values.vectors), (size) => contestVectors(join(data, `${size}`), { version, size, ...effort })),
    tools: (data) => contestTools(data, version, effort),
    extraction: (data) => contestExtraction(data, version, effort),
  };
  const rows: Figures[] = [];
  // A folder in the checkout, because the temporary folder of the system may be in memory.
  const folder = mkdtempSync(resolve('bench-data-'));
  try {
    for (const group of values.only.split(',')) {
      const data = join(folder, group);
      mkdirSync(data);
      const found = (await contests[group]?.(data)) ?? [];
      console.log(describe(found));
      rows.push(...found);
      rmSync(data, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const machine = `${availableParallelism()} virtual cores, ${Math.round(totalmem() / 1024 ** 3)} GiB, load ${loadavg()[0]?.toFixed(1)} at the end`;
  mkdirSync('bench/results', { recursive: true });
  const table = `${effort.rounds} rounds of ${effort.seconds} seconds; ${machine}.\n\n${describe(rows)}`;
  const files = {
    json: JSON.stringify({ at: new Date(), machine, ...effort, rows }, null, 2),
    md: table,
    svg: draw(rows),
  };
  for (const [kind, content] of Object.entries(files)) writeFileSync(`bench/results/peers.${kind}`, `${content}\n`);
  if (!values.docs) return;
  const text = readFileSync(page, 'utf8');
  const [begin, end] = ['<!-- peers -->', '<!-- /peers -->'].map((mark) => text.indexOf(mark));
  writeFileSync(page, `${text.slice(0, begin)}<!-- peers -->\n${table}\n${text.slice(end)}`);
  writeFileSync(page.replace('.md', '.svg'), files.svg);
}

async function each(sizes: readonly number[], measure: (size: number) => Promise<Figures[]>): Promise<Figures[]> {
  const rows: Figures[] = [];
  for (const size of sizes) rows.push(...(await measure(size)));
  return rows;
}
