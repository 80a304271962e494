// `npm run proof`: looks for acknowledged data that is lost, for answers that are doubled, leaked or wrong, under power
// cuts, faults, kills and hostile requests. Ends with 1 when it finds something. proof/README.md has the options.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installSystemTools, proofPrograms } from '../test/support/system-tools.ts';
import { durabilityPage } from './durability-page.ts';
import { damagedStores } from './faults/damaged-stores.ts';
import { storeFaults } from './faults/store-faults.ts';
import { chaos } from './history/chaos.ts';
import { createFindings } from './history/findings.ts';
import { authorisation } from './hostile/authorisation.ts';
import { hostileExpressions } from './hostile/expressions.ts';
import { fuzz } from './hostile/fuzz.ts';
import { slowPeers } from './hostile/slow-peers.ts';
import { clusterPowerCuts } from './postgres/cluster-power-cuts.ts';
import { lineFaults } from './postgres/line-faults.ts';
import { storePowerCuts } from './power/store-power-cuts.ts';
import { type PartReport, printReport } from './report.ts';
import { createRandom } from './support/random.ts';

const parts = {
  power: [storePowerCuts, clusterPowerCuts],
  faults: [storeFaults, damagedStores, lineFaults],
  history: [chaos],
  hostile: [fuzz, authorisation, hostileExpressions, slowPeers],
};

const { values } = parseArgs({
  options: {
    slice: { type: 'boolean', default: false },
    seed: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
if (!Number.isSafeInteger(seed)) throw new Error('--seed must be a whole number');
const wanted = Object.entries(parts).filter(([name]) => values.only === undefined || values.only === name);
if (wanted.length === 0) throw new Error(`--only must be one of ${Object.keys(parts).join(', ')}`);

console.error(`proof: seed ${seed}`);
await installSystemTools(proofPrograms);
const started = performance.now();
const work = mkdtempSync(join(tmpdir(), 'quartermaster-proof-'));
chmodSync(work, 0o711);
const findings = createFindings();
const reports: PartReport[] = [];
try {
  for (const part of wanted.flatMap(([, list]) => list)) {
    const random = createRandom(seed);
    const log = (text: string) => console.error(`proof: ${text}`);
    const width = availableParallelism();
    reports.push(await part({ slice: values.slice, random, findings, work, width, log }));
  }
} finally {
  if (!values.keep) rmSync(work, { recursive: true, force: true });
}
const seconds = (performance.now() - started) / 1000;
const report = { seed, slice: values.slice, seconds, parts: reports, findings: findings.all };
printReport(report);
if (values.write) writeFileSync('docs/reference/durability.md', durabilityPage(report));
process.exitCode = findings.all.length > 0 ? 1 : 0;
