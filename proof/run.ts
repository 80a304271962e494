// `npm run proof` searches for lost acknowledged data and for duplicated, leaked or wrong responses under power cuts,
// faults, kills and hostile requests. It exits with 1 when it finds something. proof/README.md lists the options.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { proofTools, requireTools } from '../test/support/system-tools.ts';
import { durabilityPage } from './durability-page.ts';
import { damagedStores } from './faults/damaged-stores.ts';
import { storeFaults } from './faults/store-faults.ts';
import { chaos } from './history/chaos.ts';
import { createFindings, type Finding } from './history/findings.ts';
import { hold } from './hold/hold.ts';
import { holdPage, holdPart } from './hold/hold-page.ts';
import { authorisation } from './hostile/authorisation.ts';
import { hostileExpressions } from './hostile/expressions.ts';
import { fuzz } from './hostile/fuzz.ts';
import { limitedKeys } from './hostile/limited-keys.ts';
import { mcpDocuments } from './hostile/mcp-documents.ts';
import { hostileColumns } from './hostile/sheet-columns.ts';
import { slowPeers } from './hostile/slow-peers.ts';
import { repeatedKills } from './kills/repeated-kills.ts';
import { clusterIndexCuts } from './postgres/cluster-index-cuts.ts';
import { clusterPowerCuts } from './postgres/cluster-power-cuts.ts';
import { lineFaults } from './postgres/line-faults.ts';
import { indexPowerCuts } from './power/index-power-cuts.ts';
import { storePowerCuts } from './power/store-power-cuts.ts';
import { countFailed, type PartOptions, type PartReport, printReport, type Report } from './report.ts';
import { nodeChaos } from './scale/node-chaos.ts';
import { starvation } from './starvation/starvation.ts';
import { createRandom } from './support/random.ts';

type Part = (options: PartOptions) => Promise<PartReport>;
const parts: Readonly<Record<string, readonly Part[]>> = {
  power: [storePowerCuts, indexPowerCuts, clusterPowerCuts, clusterIndexCuts],
  faults: [storeFaults, damagedStores, lineFaults],
  history: [chaos],
  nodes: [nodeChaos],
  hostile: [fuzz, authorisation, limitedKeys, mcpDocuments, hostileExpressions, hostileColumns, slowPeers],
  hold: [hold],
  kills: [repeatedKills],
  starvation: [starvation],
};
/** The slice omits these parts, because `npm run test:all` runs a part of them. */
const onlyInFull: ReadonlySet<Part> = new Set([repeatedKills]);
/** The full run of this part takes half an hour, so it needs `--only`. */
const byHand: ReadonlySet<Part> = new Set([nodeChaos]);
/** This part compares times, so nothing else of the proof runs beside it. */
const alone: ReadonlySet<Part> = new Set([starvation]);
/** These parts use at most one processor, so they run one after another beside the others. */
const beside: ReadonlySet<Part> = new Set([lineFaults, chaos, ...(parts.hostile ?? []), hold]);

const values = readArguments();
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
if (!Number.isSafeInteger(seed)) refuse('--seed must be a whole number.');
const wanted = Object.entries(parts)
  .flatMap(([name, list]) => (name === (values.only ?? name) ? list : []))
  .filter(
    (part) =>
      (!values.slice || !onlyInFull.has(part)) && (values.slice || values.only !== undefined || !byHand.has(part)),
  );
if (wanted.length === 0) refuse(`--only must be one of ${Object.keys(parts).join(', ')}; the slice has no kills.`);

console.error(`proof: seed ${seed}`);
requireTools(proofTools);
const started = performance.now();
const work = mkdtempSync(join(tmpdir(), 'quartermaster-proof-'));
chmodSync(work, 0o711);
let ran: Ran[];
try {
  const shared = wanted.filter((part) => !alone.has(part));
  // The nodes wait most of the time, for faults to end and for leases to expire.
  const groupOf = (part: Part) => (part === nodeChaos ? 'nodes' : beside.has(part) ? 'beside' : 'first');
  const lanes = Object.values(Object.groupBy(shared, groupOf));
  ran = (await Promise.all(lanes.map(runInTurn))).flat();
  ran.push(...(await runInTurn(wanted.filter((part) => alone.has(part)))));
} finally {
  if (!values.keep) rmSync(work, { recursive: true, force: true });
}
const seconds = (performance.now() - started) / 1000;
const findings = ran.flatMap((part) => part.findings);
const report = { seed, slice: values.slice, seconds, parts: ran, findings };
printReport(report);
if (values.write) writePages(report);
process.exitCode = findings.length > 0 ? 1 : 0;

/** Writes the pages. Each page has the parts that ran. */
function writePages(written: Report): void {
  const others = written.parts.filter(({ name }) => name !== holdPart);
  if (others.length < written.parts.length) writeFileSync('docs/reference/hold.md', holdPage(written));
  if (others.length === 0) return;
  const findings = ran.filter(({ name }) => name !== holdPart).flatMap((part) => part.findings);
  writeFileSync('docs/reference/durability.md', durabilityPage({ ...written, parts: others, findings }));
}

type Ran = Report['parts'][number] & { readonly findings: readonly Finding[] };

async function runInTurn(parts: readonly Part[]): Promise<Ran[]> {
  const done: Ran[] = [];
  for (const part of parts) done.push(await run(part));
  return done;
}

/** Runs a part. One that fails with an error counts as a finding, and the other parts still run. */
async function run(part: Part): Promise<Ran> {
  const begun = performance.now();
  const findings = createFindings();
  const random = createRandom(seed);
  const log = (text: string) => console.error(`proof: ${text}`);
  const width = availableParallelism();
  const report = await part({ slice: values.slice, match: values.match, random, findings, work, width, log }).catch(
    (error): PartReport => {
      findings.add('unavailable', `${part.name} broke off: ${error instanceof Error ? error.stack : error}`);
      return { name: part.name, cases: 1, figures: {} };
    },
  );
  const seconds = (performance.now() - begun) / 1000;
  const failed = countFailed(report.cases, findings.all);
  log(`${report.name}: ${Math.round(seconds)} s, ${findings.all.length} findings`);
  for (const { kind, text, context } of findings.all) log(`  ${kind}: ${text.slice(0, 1_500)} (${context})`);
  return { ...report, seconds, failed, findings: findings.all };
}

function readArguments() {
  const options = {
    slice: { type: 'boolean', default: false },
    seed: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    match: { type: 'string', default: '' },
  } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(message: string): never {
  console.error(`npm run proof: ${message}`);
  process.exit(64);
}
