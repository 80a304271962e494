import { plantedHolds } from '../planted-bugs.ts';
import type { Report } from '../report.ts';
import { bars } from './hold-case.ts';
import { knownExceptions } from './known-exceptions.ts';

/** The name of the part in reports. */
export const holdPart = 'Payloads that amplify';

/** Renders docs/reference/hold.md: the payloads, the limits, and the figures of this run. */
export function holdPage(report: Report): string {
  const part = report.parts.find(({ name }) => name === holdPart);
  const rows = Object.entries(part?.figures ?? {}).map(([label, value]) => `| ${label} | ${value} |`);
  const command = `npm run proof -- --only hold ${report.slice ? '--slice ' : ''}--seed ${report.seed}`;
  return `# Payloads that hold the service

Written by \`npm run proof -- --only hold --write\`; do not edit. \`proof/README.md\` has the options.

${introduction}

## Figures

The last run that was written down is a ${report.slice ? 'short' : 'full'} one: seed ${report.seed}, ${Math.round(part?.seconds ?? 0)} s, ${part?.failed ?? 0} payloads over the bar.
Payloads with a known exception are counted on their own.
Repeat it with \`${command}\`.

| what | value |
|---|---|
${rows.join('\n')}

## Known exceptions

${knownExceptions.length === 0 ? 'None.' : exceptionTable()}

## Bugs planted by hand

Each of these was built into the service, one at a time, to see whether the proof finds it.

| bug | payload that found it | measured |
|---|---|---|
${plantedHolds.map(({ bug, part: payload, how }) => `| ${bug} | ${payload} | ${how} |`).join('\n')}
`;
}

const introduction = `One request must not hold the service for all others. The proof sends payloads of at most 1 MiB that are built to
amplify: long runs of each ASCII character and of characters that expand or combine, quotes, brackets and tags that are repeated or not
closed, deep nesting, many members, items, parts, headers, columns, rows and entries, texts in which no word comes twice, and texts on
which a checker of regular expressions has shown more than linear time. They go to every place of every operation of both OpenAPI
documents but those that revoke or replace the key, to multipart messages, to MCP, to the inputs of every shipped plugin, and through the upload to every reader of
documents. A third party on the same machine answers plugins with bodies of up to 10 MiB.

The short run (\`--slice\`) has every operation and every place of its bodies and parameters, with some of the payloads for each; the seed chooses
them, and two structures of each format of documents. The full run has all payloads for each place.

| what a payload may cost | at most |
|---|---|
| time in which the event loop runs nothing else | ${bars.delay} ms |
| resident memory above rest | ${bars.memory} MiB |
| time until the answer | ${bars.answer / 1_000} s; runs of plugins and reading have limits of their own |

The process measures itself: a timer of its main thread runs every 2 ms and writes down how late it is. Time in which the
thread could have run while other work of the machine had the processors is subtracted (\`/proc/self/schedstat\`). Memory is
the peak that Linux keeps (\`VmHWM\`), against the value before the payload. A payload over the bar is sent again, up to five times, and
counts when its smallest cost is over the bar. The first use of each part of the service is not measured, because it
loads programs and tables.`;

function exceptionTable(): string {
  const rows = knownExceptions.map(
    ({ what, reason, delay, memory }) => `| ${what} | ${delay ?? '–'} | ${memory ?? '–'} | ${reason} |`,
  );
  return `| payload | delay, at most (ms) | memory, at most (MiB) | why it stays |\n|---|---|---|---|\n${rows.join('\n')}`;
}
