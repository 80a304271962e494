import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { bytesOf, readCassette } from '../../packages/server/src/app/authoring/cassette.ts';
import { createAdmission } from '../../packages/server/src/platform/admission/admission.ts';
import { createNewId } from '../../packages/server/src/platform/identifier.ts';
import { createLogger } from '../../packages/server/src/platform/log/logger.ts';
import { createMetrics } from '../../packages/server/src/platform/metrics.ts';
import type { Catalogue } from '../../packages/server/src/tools/catalogue/catalogue.ts';
import { loadCatalogue } from '../../packages/server/src/tools/catalogue/load/load-catalogue.ts';
import { createBroker } from '../../packages/server/src/tools/egress/create-broker.ts';
import { createExecutor } from '../../packages/server/src/tools/execution/create-executor.ts';
import type { Executor } from '../../packages/server/src/tools/execution/executor.ts';
import { openSandbox } from '../../packages/server/src/tools/execution/sandbox/open-sandbox.ts';

/**
 * Tests run our bundles in the real catalogue and executor, with one server on 127.0.0.1 in place of every upstream.
 */

export const bundlesFolder = resolve(import.meta.dirname, '../../bundles');

/** What the service sends with a contact, which Wikimedia's policy requires. */
export const userAgent = 'Quartermaster/0.0.0 (ops@example.org)';

export interface Received {
  readonly method: string;
  /** The path with its percent-encoding. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bytes: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export interface World {
  readonly catalogue: Catalogue;
  readonly executor: Executor;
  /** The requests since the last call of `willAnswer`. */
  readonly received: readonly Received[];
  /** Gives these responses in order and then repeats the last one. */
  willAnswer(...answers: readonly Answer[]): void;
  close(): Promise<void>;
}

/** Options for another folder of bundles and another server for their hosts. */
export interface Elsewhere {
  readonly folder: string;
  /** Default: the server that `willAnswer` prepares. */
  readonly upstream?: string;
  /** Grants an access token to every caller at the hosts of token endpoints, because the upstream has no login. */
  readonly grantsTokens?: boolean;
}

export async function openWorld(elsewhere?: Elsewhere): Promise<World> {
  const [logger, metrics] = [createLogger('silent'), createMetrics()];
  const catalogue = await loadCatalogue({
    folders: [elsewhere?.folder ?? bundlesFolder],
    capabilities: { handlers: 'process' },
    publicUrl: 'http://127.0.0.1:8081',
    operatorHosts: new Map([['http_request', ['api.example.com']]]),
    logger,
  });
  const upstream = await startUpstream();
  const hosts = [...catalogue.bundles.values()].flatMap((bundle) => bundle.hosts);
  const origin = elsewhere?.upstream ?? upstream.origin;
  const overrides = new Map(hosts.map((host) => [`https://${host}`, origin]));
  if (elsewhere?.grantsTokens === true) {
    upstream.willAnswer({ status: 200, contentType: 'application/json', body: JSON.stringify(grantedToken) });
    for (const host of loginHosts(catalogue)) overrides.set(`https://${host}`, upstream.origin);
  }
  const broker = createBroker({ overrides, allow: [], logger, version: '0.0.0', contact: 'ops@example.org' });
  const sandbox = await openSandbox({
    admission: createAdmission(),
    ...{ maxChildrenPerBundle: 1, memoryBudgetMb: 1_024, queueLength: 16, idleMs: 60_000, recycleAfterRuns: 1_000 },
    ...{ logger, metrics },
  });
  const executor = createExecutor({
    admission: createAdmission(),
    catalogue: () => catalogue,
    broker,
    sandbox,
    newId: createNewId(),
    logger,
    metrics,
  });
  return {
    catalogue,
    executor,
    received: upstream.received,
    willAnswer: upstream.willAnswer,
    close: async () => {
      await sandbox.close();
      await broker.close();
      await upstream.close();
    },
  };
}

/** The response of every token endpoint. The tests check only the calls of the APIs. */
const grantedToken = { access_token: 'granted-token', token_type: 'Bearer', expires_in: 3600 };

/** Returns the hosts that provide nothing except access tokens. */
function loginHosts(catalogue: Catalogue): string[] {
  const bundles = [...catalogue.bundles.values()];
  const requests = bundles.flatMap(({ plugins }) => [...plugins.values()].map(({ manifest }) => manifest.request));
  const inject = [
    ...bundles.flatMap(({ manifest }) => manifest.inject ?? []),
    ...requests.flatMap((one) => one?.inject ?? []),
  ];
  const called = new Set(requests.map((request) => new URL(request?.url ?? 'https://none.invalid').host));
  const logins = inject.flatMap((one) => (one.in === 'oauth2' ? [new URL(one.token_url).host] : []));
  return logins.filter((host) => !called.has(host));
}

/** Statuses after which the broker retries (ADR 0044). This upstream allows an immediate retry. */
const busy = new Set([429, 502, 503, 504]);

const unprepared: Answer = { status: 500, contentType: 'text/plain', body: 'nothing was prepared' };

async function startUpstream() {
  const received: Received[] = [];
  let answers: readonly Answer[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const [path = '', query = ''] = url.split('?');
    void buffer(request).then((bytes) => {
      const body = bytes.toString();
      if (method === 'POST' && path === '/token' && body.includes('grant_type=')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(grantedToken));
        return;
      }
      received.push({ method, path, query: new URLSearchParams(query), headers, body, bytes });
      const answer = answers[Math.min(received.length, answers.length) - 1] ?? unprepared;
      const again = busy.has(answer.status) ? { 'retry-after': '0' } : {};
      response
        .writeHead(answer.status, { ...answer.headers, 'content-type': answer.contentType, ...again })
        .end(answer.body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    willAnswer: (...next: readonly Answer[]) => {
      received.length = 0;
      answers = next;
    },
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function mediaTypeOf(fixture: string): string {
  if (fixture.endsWith('.xml')) return 'application/atom+xml; charset=utf-8';
  return fixture.endsWith('.json') ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8';
}

export function bundleFile(bundleId: string, name: string): string {
  return join(bundlesFolder, bundleId, name);
}

/** Returns the responses of one payload, or of all calls of a cassette. */
export function answersOf(bundleId: string, fixture: string): Answer[] {
  if (!fixture.endsWith('.cassette.json')) return [answerFrom(bundleId, fixture, 200)];
  const calls = readCassette(readFileSync(bundleFile(bundleId, join('fixtures', fixture)), 'utf8'))?.calls ?? [];
  return calls.map(({ response: { status, headers, body } }) => ({
    ...{ status, headers, contentType: headers['content-type'] ?? '', body: bytesOf(body) },
  }));
}

export function answerFrom(bundleId: string, fixture: string, status: number): Answer {
  return { status, contentType: mediaTypeOf(fixture), body: readFileSync(bundleFile(bundleId, fixture)) };
}
