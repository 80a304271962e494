import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../../test/support/service.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings } from '../support/endings.ts';
import { openUpstream } from '../support/upstream.ts';
import { probeHealth } from './probe-health.ts';

const doubled = (times: number) => Array.from({ length: times }, () => '[@, @]').join(' | ');

/** Short expressions whose value or intermediate values are enormous. */
const expressions: readonly string[] = [
  `{said: body | ${doubled(24)}}`,
  `{said: to_string(body | ${doubled(26)})}`,
  `{said: length(body | ${Array.from({ length: 22 }, () => '[@, @][]').join(' | ')})}`,
  `{said: length(body.list[].[${Array.from({ length: 300 }, () => '@').join(', ')}][])}`,
  `{said: body.list[].{a: $, b: $}}`,
  `{said: sort_by(body.list[].{k: to_string($)}, &k)}`,
  `{said: body.list[?length($.list[?length(@) > \`0\`]) > \`0\`]}`,
  `{said: join('', body.list[].join('', $.list))}`,
  `{said: reverse(to_string(body.list[].$))}`,
  `{said: ${'!'.repeat(400)}body}`,
  `{said: ${'('.repeat(200)}body${')'.repeat(200)}}`,
  `{said: map(&map(&map(&length(@), $.list), $.list), body.list)}`,
];

const plugin = (index: number, expression: string) => `id: e${index}
name: e${index}
description: Maps its answer with a hostile expression.
effects: read
idempotent: true
request: {method: GET, url: 'https://api.example.com/read', query: {q: list}}
response: {output: ${JSON.stringify(expression)}}
input_schema: {type: object, additionalProperties: false, properties: {}}
output_schema: {type: object, properties: {said: {description: Anything.}}}
`;

/** MiB that all expressions together may add to the memory of the service. */
const mostMemory = 400;
const timeoutMs = 15_000;

/** Runs bundles without code whose expressions need more than a machine has. Both addresses must continue to answer. */
export async function hostileExpressions(options: PartOptions): Promise<PartReport> {
  const endings = createEndings();
  const place = join(options.work, 'expressions');
  const folder = join(place, 'live');
  mkdirSync(folder, { recursive: true });
  const outcomes = new Map<string, number>();
  try {
    const upstream = await openUpstream(place);
    endings.after(upstream.close);
    for (const [index, text] of expressions.entries()) {
      writeFileSync(join(place, 'bundles', 'proof', `e${index}.yaml`), plugin(index, text));
    }
    const service = await startService(endings, { folder, settings: upstream.settings });
    const before = memoryOf(service.process.pid);
    const health = probeHealth(service);
    for (const index of expressions.keys()) {
      const answer = await fetch(`${service.pluginsUrl}/v1/execute`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ bundle_id: 'proof', plugin_id: `e${index}`, input_params: {}, credentials: {} }),
        signal: AbortSignal.timeout(timeoutMs),
      }).catch(() => undefined);
      const text = (await answer?.text().catch(() => '')) ?? '';
      const outcome = answer === undefined ? 'no answer' : (/"code":"(\w+)"/.exec(text)?.[1] ?? String(answer.status));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      const grown = memoryOf(service.process.pid) - before;
      const findings = options.findings.after(`expression ${expressions[index]?.slice(0, 60)}`);
      if (answer === undefined) findings.add('unavailable', `no answer within ${timeoutMs} ms`);
      if (outcome === 'INTERNAL_SERVER_ERROR') findings.add('wrong error', '500');
      if (grown > mostMemory) findings.add('unavailable', `the memory grew by ${grown} MiB`);
      if (answer === undefined) break;
    }
    const probed = await health.stop();
    if (probed.silent > 0) options.findings.add('unavailable', `${probed.silent} health probes without an answer`);
    return {
      name: 'Hostile expressions',
      cases: expressions.length,
      figures: {
        expressions: expressions.length,
        ...Object.fromEntries(outcomes),
        'longest wait of a health probe (ms)': probed.longest,
        'memory growth (MiB)': memoryOf(service.process.pid) - before,
      },
    };
  } finally {
    await endings.end();
  }
}

/** Returns the current resident memory in MiB. */
export function memoryOf(pid: number | undefined): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}
