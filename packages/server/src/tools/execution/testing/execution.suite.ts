import { chmod } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import type { TestContext } from 'node:test';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { noAudit } from '../../../platform/audit/testing/no-audit.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createApp } from '../../../platform/http/create-app.ts';
import { createDrain } from '../../../platform/http/drain.ts';
import { createRequestMetrics } from '../../../platform/http/request-metrics.ts';
import { createIdempotency } from '../../../platform/idempotency/idempotency.ts';
import { createNewId } from '../../../platform/identifier.ts';
import { createLogger, type Logger } from '../../../platform/log/logger.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { permissionsWithoutKey } from '../../../platform/permissions.ts';
import { openTemporaryDatabase } from '../../../storage/database/testing/open-temporary-database.ts';
import { createIdempotencyRepository } from '../../../storage/repositories/idempotency-repository.ts';
import { createFolder, type Files, load } from '../../catalogue/load/testing/bundle-folder.suite.ts';
import { createBroker } from '../../egress/create-broker.ts';
import { startServer } from '../../egress/testing/broker.suite.ts';
import { createExecutor } from '../create-executor.ts';
import { executionRoutes } from '../routes.ts';
import { noObserver, type Run, type RunObserver } from '../run.ts';
import { createRunOnce, type RunOnce } from '../run-once.ts';
import type { ExecutionLimits } from '../run-policy.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';

/** Tests use the plugins address with real bundles, broker, sandbox and database, and an upstream on 127.0.0.1. */
/** A part of every secret that no path of a checkout contains. Errors and logs may contain such paths. */
export const mark = 'cAnArY';
export const secret = `${mark}/"secret"+0123456789ü`;
/** A secret that every header of an upstream can carry. */
export const plainSecret = `${mark}-plain-0123456789`;

const bundleYaml = `id: echo
version: 1.0.0
name: Echo
description: Says what it hears.
provider: Example
developer: Quartermaster
hosts: [api.example.com, other.example.com]
credentials_schema:
  type: object
  required: [api_key]
  additionalProperties: false
  properties:
    api_key: {type: string, minLength: 4, maxLength: 100, description: The key., x-secret: true}
    region: {type: string, description: The region.}
inject:
  - {in: query, name: key, credential: api_key}
verify:
  request: {url: 'https://api.example.com/me'}
limits: {timeout_ms: 20000, max_response_bytes: 100000, max_requests: 2}
`;

const plugin = (id: string, members: string, effects = 'effects: read\nidempotent: true') => `id: ${id}
name: ${id}
description: Does ${id}.
${effects}
input_schema:
  type: object
  additionalProperties: false
  properties:
    q: {type: string, maxLength: 1000, description: What to say.}
    n: {type: integer, default: 7, description: A number.}
output_schema:
  type: object
  required: [said]
  properties: {said: {type: string, description: What was said.}}
${members}
`;

const get = (path: string) => `request: {url: 'https://api.example.com${path}', query: {q: '{q}', n: '{n}'}}`;

export const files: Files = {
  'echo/bundle.yaml': bundleYaml,
  'echo/say.yaml': plugin(
    'say',
    `${get('/say')}\nresponse: {output: '{said: body.said}', failed_when: body.error, credentials_rejected_when: body.bad_key}`,
  ),
  'echo/plain.yaml': plugin('plain', `${get('/say')}\nresponse: {format: text, output: '{said: body, from: headers}'}`),
  'echo/sum.yaml': plugin('sum', `${get('/say')}\nresponse: {output: 'sum(body.said)'}`),
  'echo/costly.yaml': plugin(
    'costly',
    `${get('/say')}\nresponse: {output: '{said: ${'[@, @] | '.repeat(60)}to_string(@)}'}`,
  ),
  'echo/costly_failed.yaml': plugin(
    'costly_failed',
    `${get('/say')}\nresponse: {failed_when: 'length(${'[@, @][] | '.repeat(60)}@)'}`,
  ),
  'echo/many_times.yaml': plugin(
    'many_times',
    `${get('/say')}\nresponse: {output: '{said: body | ${'[@, @] | '.repeat(24)}@}'}`,
  ),
  'echo/away.yaml': plugin('away', "request: {url: 'https://other.example.com/'}"),
  'echo/write.yaml': plugin(
    'write',
    `request: {method: POST, url: 'https://api.example.com/write', body: {q: '{q}'}}\nresponse: {output: '{said: body.said}'}`,
    'effects: write\nidempotent: false',
  ),
  'echo/own.yaml': plugin(
    'own',
    `request:
  {method: POST, url: 'https://api.example.com/own', body: {q: '{q}'}, body_type: form,
   inject: [{in: form, name: token, credential: api_key}, {in: basic, username: region, password: api_key}]}
response: {output: '{said: body.said}'}`,
  ),
  'echo/handle.yaml': plugin('handle', 'handler: handle.mjs'),
  'echo/handle.mjs': `export const run = async ({ q, n }, context) => {
    if (q === 'reject') context.reject('q is wrong');
    if (q === 'throw') throw new Error('it broke');
    if (q === 'exit') process.exit(1);
    if (q?.startsWith('print ')) {
      console.error(q);
      process.exit(1);
    }
    if (q === 'spin') for (;;);
    if (q === 'leave') void context.fetch({ url: 'https://api.example.com/left' }).catch(() => {});
    if (q === 'elsewhere') await context.fetch({ url: 'https://evil.example.com/' });
    if (q === 'many') for (let i = 0; i < 3; i += 1) await context.fetch({ url: 'https://api.example.com/say' });
    const { status, text, headers } = await context.fetch({ url: 'https://api.example.com/say', query: { q, n } });
    context.log('heard ' + text, { text, headers });
    if (status !== 200) throw new Error('status ' + status + ': ' + text);
    return { said: text, headers };
  };`,
  'free/bundle.yaml': bundleYaml.replace('id: echo', 'id: free').replace(/credentials_schema:[\s\S]*(?=limits)/, ''),
  'free/say.yaml': plugin('say', get('/say')),
  'free/judge.yaml': plugin('judge', `${get('/say')}\nresponse: {credentials_rejected_when: body.bad_key}`),
  'free/handle.yaml': plugin('handle', 'handler: handle.mjs'),
  'free/handle.mjs': `export const run = async (_input, context) => {
    const { status } = await context.fetch({ url: 'https://api.example.com/say' });
    throw new Error('status ' + status);
  };`,
  'wide/bundle.yaml': bundleYaml
    .replace('id: echo', 'id: wide')
    .replace('maxLength: 100', 'maxLength: 10000')
    .replace(/inject:[\s\S]*(?=verify)/, ''),
  'wide/say.yaml': plugin('say', "request: {url: 'https://api.example.com/say'}\nresponse: {output: body}"),
  'wide/chat.yaml': plugin('chat', 'handler: chat.mjs'),
  'wide/chat.mjs': `export const run = async ({ q }, context) => {
    context.log(q, { q });
    context.progress(0.5, q);
    console.error(q);
    return { said: 'done' };
  };`,
  'unasked/bundle.yaml': bundleYaml.replace('id: echo', 'id: unasked').replace(/verify:[\s\S]*(?=limits)/, ''),
  'unasked/say.yaml': plugin('say', get('/say')),
};

export async function openBench(
  t: TestContext,
  upstream: RequestListener,
  limits: Partial<ExecutionLimits> = {},
  bundles: Files = files,
) {
  const log: string[] = [];
  const logger = createLogger('trace', { write: (line) => log.push(line) });
  const metrics = createMetrics();
  const server = await startServer(t, upstream);
  const folder = await createFolder(t, bundles);
  await chmod(folder, 0o755);
  const catalogue = await load(folder);
  if (catalogue.failures.length > 0) throw new Error(JSON.stringify(catalogue.failures, null, 2));
  const overrides = new Map([['https://api.example.com', server.origin]]);
  const resolve = async () => [{ address: '10.0.0.1', family: 4 }];
  const broker = createBroker({ overrides, allow: [], logger, metrics, resolve, version: '1.2.3' });
  const sandbox = openWhenUsed(t, () =>
    openSandbox({
      admission: createAdmission(),
      ...{ maxChildrenPerBundle: 1, memoryBudgetMb: 1_024, queueLength: 10, idleMs: 60_000, recycleAfterRuns: 1000 },
      ...{ logger, metrics },
    }),
  );
  const once = openWhenUsed(t, () => openRunOnce(logger));
  const ended: Run[] = [];
  // Copies the run, because it changes later.
  const observer: RunObserver = {
    ...noObserver,
    ended: (run) => ended.push({ ...run, trace: structuredClone(run.trace) }),
  };
  const executor = createExecutor({
    admission: createAdmission(),
    ...{ catalogue: () => catalogue, broker, newId: createNewId(), logger, metrics, limits, observer },
    sandbox: { run: async (task, signal) => (await sandbox()).run(task, signal), capabilities, close: async () => {} },
  });
  const requestMetrics = createRequestMetrics(metrics);
  const app = createApp({ logger, address: 'plugins', requestMetrics, drain: createDrain(), audit: noAudit });
  executionRoutes(app, {
    ...{
      catalogue: () => catalogue,
      executor,
      onRequest: async () => {},
      onAnyRun: async () => {},
      projectOf: () => null,
    },
    resolveCredentials: (_projectId, _bundleId, credentials) => ({ credentials }),
    keyOf: () => null,
    permissionsOf: () => permissionsWithoutKey,
    basePathOf: () => '',
    once: {
      runOnce: async (...call) => (await once()).runOnce(...call),
      acceptOnce: async (...call) => (await once()).acceptOnce(...call),
    },
    // Other tests cover asynchronous runs.
    background: { accept: unused, get: unused },
  });
  t.after(async () => {
    await app.close();
    await broker.close();
  });
  const execute = async (body: Record<string, unknown>, headers: Record<string, string> = {}) => {
    const defaults = { bundle_id: 'echo', input_params: {}, credentials: { api_key: secret } };
    const answer = await app.inject({ method: 'POST', url: '/v1/execute', payload: { ...defaults, ...body }, headers });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json(), text: answer.body };
  };
  return { app, log, metrics, server, execute, executor, ended };
}

async function unused(): Promise<never> {
  throw new Error('these tests ask for no asynchronous run');
}

/** Opens a process or database when a test first uses it. */
function openWhenUsed<T extends { close(): Promise<void> }>(t: TestContext, open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined;
  t.after(async () => await (await opening)?.close());
  return () => {
    opening ??= open();
    return opening;
  };
}

async function openRunOnce(logger: Logger): Promise<RunOnce & { close(): Promise<void> }> {
  const { database, close } = await openTemporaryDatabase();
  const repository = createIdempotencyRepository(database);
  const idempotency = createIdempotency({ repository, clock: systemClock, logger });
  return { ...createRunOnce({ idempotency, isRepeatable: () => false, hashes: (text) => [text] }), close };
}

/** These tests do not read the capabilities. */
const capabilities = {
  ...{ permissions: true, networkDenied: true, separateUser: false },
  sandbox: { available: false, missing: 'this test needs none' },
  cgroup: { available: false, missing: 'this test needs none' },
} as const;
