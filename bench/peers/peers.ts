import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeerPackages } from '../../scripts/set-up/install-packages.mjs';
import { type Figures, packageFile } from './contest.ts';
import { contestExtraction } from './extraction-contest.ts';
import { describe, draw } from './report.ts';
import { contestQuestions, contestVectors } from './search-contest.ts';
import { contestTools } from './tool-contest.ts';
import { contestUploads } from './upload-contest.ts';

const page = 'docs/performance.md';
const results = 'bench/results/peers.json';
const known = 'uploads,questions,vectors,tools,extraction';

/** Measures this tree and what people would use instead, side by side, and writes a table and a plot. */
export async function measurePeers(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: known },
      sizes: { type: 'string', default: '1000,10000,100000' },
      vectors: { type: 'string', default: '10000,100000' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      docs: { type: 'boolean', default: false },
    },
  });
  const groups = values.only.split(',');
  const unknown = groups.filter((group) => !known.split(',').includes(group));
  const numbers = [values.sizes, values.vectors, values.rounds, values.seconds].flatMap((list) => list.split(','));
  if (unknown.length > 0) throw new Error(`--only has no group ${unknown.join(', ')}; the groups are ${known}.`);
  if (!numbers.every((number) => Number(number) > 0)) throw new Error('Sizes, rounds and seconds are numbers above 0.');
  await installPeerPackages();
  if (groups.includes('vectors') && !existsSync(packageFile('hnswlib-node/build/Release/addon.node')))
    execFileSync('npm', ['rebuild', 'hnswlib-node', '--prefix', import.meta.dirname], { stdio: 'inherit' });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const effort = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
  const sizesOf = (list: string) => list.split(',').map(Number);
  const contests: ReadonlyArray<readonly [group: string, measure: (data: string) => Promise<Figures[]>]> = [
    ['uploads', (data) => contestUploads(data, version, effort)],
    ...sizesOf(values.sizes).map(
      (size) => ['questions', (data: string) => contestQuestions(data, { version, size, ...effort })] as const,
    ),
    ...sizesOf(values.vectors).map(
      (size) => ['vectors', (data: string) => contestVectors(data, { version, size, ...effort })] as const,
    ),
    ['tools', (data) => contestTools(data, version, effort)],
    ['extraction', (data) => contestExtraction(data, version, effort)],
  ];
  // A group that is not measured keeps the figures of its last run.
  const rows = readFigures().filter(({ group }) => !groups.includes(group));
  mkdirSync('bench/results', { recursive: true });
  for (const [, measure] of contests.filter(([name]) => groups.includes(name))) {
    // A folder in the checkout, because the temporary folder of the system may be in memory.
    const data = mkdtempSync(resolve('bench-data-'));
    const found = await measure(data).finally(() => rmSync(data, { recursive: true, force: true }));
    console.log(describe(found));
    rows.push(...found);
    writeFileSync(results, JSON.stringify({ rows }, null, 2));
  }
  const order = contests.map(([group]) => group);
  rows.sort((one, other) => order.indexOf(one.group) - order.indexOf(other.group));
  const table = describe(rows);
  writeFileSync('bench/results/peers.md', table);
  writeFileSync('bench/results/peers.svg', draw(rows));
  if (!values.docs) return;
  const text = readFileSync(page, 'utf8');
  const [begin, end] = ['<!-- peers -->', '<!-- /peers -->'].map((mark) => text.indexOf(mark));
  writeFileSync(page, `${text.slice(0, begin)}<!-- peers -->\n${table}\n${text.slice(end)}`);
  writeFileSync(page.replace('.md', '.svg'), draw(rows));
}

function readFigures(): Figures[] {
  if (!existsSync(results)) return [];
  return (JSON.parse(readFileSync(results, 'utf8')) as { rows: Figures[] }).rows;
}
