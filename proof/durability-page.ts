import { plantedBugs } from './planted-bugs.ts';
import type { Report } from './report.ts';

/** Renders docs/reference/durability.md: what is simulated, the model, and the figures of this run. */
export function durabilityPage(report: Report): string {
  const kinds = [...Map.groupBy(report.findings, ({ kind, text }) => `${kind}: ${text.slice(0, 60)}`)];
  const listed = kinds.map(([name, { length }]) => `* ${length} × ${name.replaceAll('|', ' ')}`).join('\n');
  const findings = kinds.length === 0 ? 'Nothing was found.' : `Findings:\n\n${listed}\n`;
  const kind = report.slice ? 'short run' : 'full run';
  return `# Durability

Written by \`npm run proof -- --write\`; do not edit. \`proof/README.md\` has the options.

${introduction}

## The model

${model}

## Figures

The last ${kind} that was written down: seed ${report.seed}, ${Math.round(report.seconds / 60)} minutes. ${findings}
Repeat it with \`npm run proof -- ${report.slice ? '--slice ' : ''}--seed ${report.seed}\`.

${report.parts.map(describePart).join('\n\n')}

## Bugs planted by hand

Each of these was built into the service, one at a time, to see whether the proof finds it.

| bug | found by | how |
|---|---|---|
${plantedBugs.map(({ bug, part, how }) => `| ${bug} | ${part} | ${how} |`).join('\n')}
`;
}

const introduction = `What the service acknowledges must survive a power cut, a failing disk, a kill, a lost connection and hostile clients.
\`npm run proof\` tries this on real processes. Clients write down every request and its answer; a checker compares them with
what the service says afterwards:

* every acknowledged upload is listed with its size and digest, and \`fsck --hash\` reads all contents; the checker also
  downloads the newest and as many random ones (12 of each, 200 after kills) and compares them byte for byte;
* every acknowledged delete stays deleted;
* an idempotency key has one answer, also after a crash;
* a plugin that is not idempotent never runs twice (its third party counts);
* every record and every run ends;
* \`fsck --hash\` finds nothing but bytes of uploads that were cut;
* no project sees another's data, and an id of another project is answered like one that does not exist;
* a 5xx has its documented cause: 503 while the database or the disk fails, 507 while room is missing.`;

const model = `A library that is loaded into the service and into PostgreSQL records every write, rename, unlink and sync, in exact order,
with the requests and answers in between. A power cut is rebuilt from it at any moment: what was synced is there; of the rest
a random part is, in any order, and writes are torn at sectors of 512 or 4,096 bytes. At the end of a recording, the replay
with nothing lost must equal the real folder, so nothing escapes the recorder.

| model | a name (new file, rename, delete) is durable |
|---|---|
| strict | once its folder was synced after it |
| ordered, as ext4 | in order; any sync makes all earlier names durable |

PostgreSQL is tested with the ordered model only, because it relies on that model. Not simulated: bugs of file systems, disks that lie
about syncs, and the first start of a store.

The same library makes calls fail: each call that the service makes on each class of files, once and from then on, with and
without a kill while it fails. The line to PostgreSQL goes through a proxy that cuts, delays or silences it, loses the
answer to a COMMIT, or lets the COMMIT arrive after its client has got an error.`;

function describePart({ name, figures, sites = [] }: Report['parts'][number]): string {
  const rows = Object.entries(figures).map(([label, value]) => `| ${label} | ${value} |`);
  const exercised = sites.filter(({ faults }) => faults > 0).length;
  if (sites.length > 0)
    rows.push(`| call sites reachable | ${sites.length} |`, `| call sites exercised | ${exercised} |`);
  const table = `### ${name}\n\n| what | count |\n|---|---|\n${rows.join('\n')}`;
  if (sites.length === 0) return table;
  const siteRows = sites.map((site) => `| ${site.name} | ${site.calls} | ${site.faults} |`);
  return `${table}\n\n| call site | calls | cases that failed it |\n|---|---|---|\n${siteRows.join('\n')}`;
}
