// `npm run bench` measures every figure and its floor on this machine in the same run. It prints a table and writes
// bench/results/latest.json. `npm run bench -- http` runs the benches whose name contains "http". `-- search`, `-- vectors`
// and `-- restarts` run only when they are named; `restarts` takes a number of restarts and exits with 1 when a request
// failed. `search` takes options (search/search-options.ts). `npm run bench -- --compare <commit>` measures that commit and
// this tree alternately (compare.ts). `npm run bench -- budgets` checks what users notice (budgets.ts). `npm run bench -- pieces`
// tries pieces (pieces.ts), `-- imports` imports API documents (imports.ts), `-- peers` measures what people would use instead
// (peers/peers.ts), `-- nodes` compares 1, 2 and 4 nodes (nodes-bench.ts), and `-- node-kills` kills one of four (node-kills-bench.ts).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runBudgets } from './budgets.ts';
import { runComparison } from './compare.ts';
import { consoleBenches } from './console-bench.ts';
import { measureDeletions } from './deletion-bench.ts';
import { httpBenches } from './http-benches.ts';
import { importedBenches } from './imported-bench.ts';
import { surveyImports } from './imports.ts';
import { measureNodeKills } from './node-kills-bench.ts';
import { measureNodes } from './nodes-bench.ts';
import { measurePeers } from './peers/peers.ts';
import { surveyPieces } from './pieces.ts';
import { queryBenches } from './query-benches.ts';
import { restartBench } from './restart-bench.ts';
import { searchBenches } from './search/search-benches.ts';
import { printRows, type Row } from './table.ts';
import { vectorBenches } from './vectors/vector-benches.ts';

const args = process.argv.slice(2);
if (args[0] === 'budgets') process.exit((await runBudgets(args[1])) ? 0 : 1);
const others = {
  deletion: measureDeletions,
  pieces: surveyPieces,
  imports: surveyImports,
  peers: measurePeers,
  nodes: measureNodes,
  'node-kills': measureNodeKills,
};
if (args[0] !== undefined && args[0] in others) {
  await others[args[0] as keyof typeof others](args.slice(1));
  process.exit();
}
const wanted = args[0] ?? '';
if (args.includes('--compare') && wanted !== 'search') process.exit((await runComparison(args)) ? 0 : 1);
// Uses a folder in the checkout, because the temporary folder of the system may be in memory and these benches measure
// a disk.
const folder = mkdtempSync(resolve('bench-data-'));
const rows: Row[] = [];
try {
  if ('http'.includes(wanted)) rows.push(...(await httpBenches(join(folder, 'http'))));
  if ('imported'.includes(wanted)) rows.push(...(await importedBenches(join(folder, 'imported'))));
  if (wanted !== 'vectors') rows.push(...(await queryBenches(join(folder, 'query'), wanted)));
  if ('console'.includes(wanted)) rows.push(...(await consoleBenches(join(folder, 'console'))));
  // These benches take minutes.
  if (wanted === 'search') rows.push(...(await searchBenches(join(folder, 'search'), args.slice(1))));
  if (wanted === 'vectors') rows.push(...(await vectorBenches(args.slice(1))));
  if (wanted === 'restarts') {
    const row = await restartBench(join(folder, 'restarts'), args[1] === undefined ? undefined : Number(args[1]));
    if (!row.met) process.exitCode = 1;
    rows.push(row);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (rows.length === 0) {
  console.error(`npm run bench: there is no bench with "${wanted}" in its name.`);
  process.exit(64);
}
printRows(rows);
mkdirSync('bench/results', { recursive: true });
writeFileSync('bench/results/latest.json', JSON.stringify({ at: new Date().toISOString(), rows }, null, 2));
