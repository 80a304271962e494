import { join } from 'node:path';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings } from '../support/endings.ts';
import type { Random } from '../support/random.ts';
import type { KnownIds } from './generate-value.ts';
import { type ApiOperation, readOperations } from './operations.ts';
import { probeHealth } from './probe-health.ts';
import { type Sending, type Sent, sendOperation } from './send-operation.ts';
import { canary, openTwoProjects } from './two-projects.ts';

/**
 * Errors with a 5xx status that hostile requests may cause: failures of a third party or plugin, and features that are
 * not configured.
 */
const causedByOthers = new Set([
  'PROVIDER_ERROR',
  'PROVIDER_REJECTED',
  'PROVIDER_RATE_LIMITED',
  'PLUGIN_FAILED',
  'PLUGIN_TIMEOUT',
  'NOT_CONFIGURED',
]);

/** Operations that would revoke the keys of the fuzzer. */
const leftOut = new Set(['revokeKey', 'rotateKey']);

/** Sends generated requests to every operation of both documents. It reuses ids from responses. */
export async function fuzz(options: PartOptions): Promise<PartReport> {
  const random = options.random.fork('fuzz');
  const endings = createEndings();
  const requests = options.slice ? 1_500 : 24_000;
  const statuses = new Map<string, number>();
  const operationsHit = new Set<string>();
  try {
    const { service, first, second, ids } = await openTwoProjects(join(options.work, 'fuzz'), endings);
    const operations = (await readOperations(service)).filter(({ id }) => !leftOut.has(id));
    const health = probeHealth(service);
    let sent = 0;
    const attack = async (worker: number) => {
      const draw = random.fork(`lane ${worker}`);
      const known = createKnownIds(draw, ids);
      while (sent++ < requests) {
        const operation = draw.pick(operations) as ApiOperation; // the documents have at least one operation
        // Also uses ids of the first project with the key of the second.
        const isSecond = draw.chance(0.5);
        const key = draw.chance(0.03) ? undefined : isSecond ? second.key : first.key;
        const sending: Sending = { ...service, key, random: draw, ids: known };
        const answer = await sendOperation(operation, sending);
        operationsHit.add(`${operation.address} ${operation.id}`);
        const bucket = answer === undefined ? 'no answer' : `${Math.floor(answer.status / 100)}xx`;
        statuses.set(bucket, (statuses.get(bucket) ?? 0) + 1);
        judge(answer, { operation, isForeign: isSecond || key === undefined, ...options });
        if (answer !== undefined && answer.status < 300) known.learn(answer.text);
      }
    };
    await Promise.all([1, 2, 3, 4].map(attack));
    const probed = await health.stop();
    if (probed.silent > 0) options.findings.add('unavailable', `${probed.silent} health probes without an answer`);
    const code = await service.stop();
    if (code !== 0) options.findings.add('unavailable', `the service ended with ${code}: ${service.log().slice(-500)}`);
    return {
      name: 'Hostile requests',
      cases: requests,
      figures: {
        ...{ requests, operations: `${operationsHit.size} of ${operations.length}`, ...Object.fromEntries(statuses) },
        ...{ 'health probes': probed.probes, 'longest wait of a probe (ms)': probed.longest },
      },
    };
  } finally {
    await endings.end();
  }
}

interface Judging extends Pick<PartOptions, 'findings'> {
  readonly operation: ApiOperation;
  /** Whether the request came without the key of the first project. */
  readonly isForeign: boolean;
}

function judge(answer: Sent | undefined, { operation, isForeign, findings }: Judging): void {
  const name = `${operation.method} ${operation.path}`;
  if (answer === undefined) {
    findings.add('unavailable', `${name} was not answered`);
    return;
  }
  const isShown = answer.text.includes(canary) && !answer.asked.includes(canary);
  if (isForeign && isShown) findings.add('leaked', `${name} shows the first project's data`);
  if (answer.status < 400) return;
  const code = codeOf(answer, operation.path);
  if (code === undefined) findings.add('wrong error', `${name}: ${answer.status} not in the documented form of errors`);
  else if (answer.status >= 500 && !causedByOthers.has(code))
    findings.add('wrong error', `${name}: ${answer.status} ${code}`);
}

/** The code of an error in the form that its path documents: that of another program (a dialect), or our envelope. */
function codeOf({ text }: Sent, path: string): string | undefined {
  const forms: readonly [prefix: string, message: 'error_msg' | 'detail'][] = [
    ['/dify/', 'error_msg'],
    ['/openwebui/', 'detail'],
  ];
  const [, member] = forms.find(([prefix]) => path.startsWith(prefix)) ?? [];
  try {
    const body = JSON.parse(text) as ErrorBody;
    if (member !== undefined) return typeof body[member] === 'string' ? body.code : undefined;
    return body.status === 'error' && typeof body.error?.message === 'string' ? body.error.code : undefined;
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  readonly status?: string;
  readonly error?: { readonly code?: string; readonly message?: string };
  readonly error_msg?: string;
  readonly detail?: string;
  readonly code?: string;
}

/** Remembers the latest ids of each name in responses. */
function createKnownIds(
  random: Random,
  initial: Readonly<Record<string, string>>,
): KnownIds & { learn(text: string): void } {
  const ids = new Map(Object.entries(initial).map(([name, id]) => [name, [id]]));
  return {
    pick: (name) => random.pick(ids.get(name) ?? []),
    learn: (text) => {
      for (const [, name = '', id = ''] of text.matchAll(/"(\w+_id|name)":"([^"\\]{1,64})"/g)) {
        const list = ids.get(name) ?? [];
        ids.set(name, [...list, id].slice(-20));
      }
    },
  };
}
