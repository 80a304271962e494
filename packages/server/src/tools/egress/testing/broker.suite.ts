import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { Secret } from '../../../platform/secret.ts';
import type { Broker, EgressPolicy } from '../broker.ts';
import { type BrokerDeps, createBroker } from '../create-broker.ts';

/** A real server on 127.0.0.1 for tests with a real broker. */

export interface TestServer {
  readonly origin: string;
  readonly port: number;
  /** The number of connections so far. Traps use it. */
  readonly connections: () => number;
  readonly requests: ReadonlyArray<Received>;
}

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export async function startServer(context: TestContext, answer: RequestListener): Promise<TestServer> {
  const requests: Received[] = [];
  let connections = 0;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { origin: `http://127.0.0.1:${port}`, port, connections: () => connections, requests };
}

export function startBroker(context: TestContext, deps: Partial<BrokerDeps> = {}): Broker {
  const broker = createBroker({
    overrides: new Map(),
    allow: [],
    logger: createLogger('silent'),
    version: '1.2.3',
    resolve: async (hostname) => {
      throw Object.assign(new Error(`no such name: ${hostname}`), { code: 'ENOTFOUND' });
    },
    ...deps,
  });
  context.after(() => broker.close());
  return broker;
}

export const apiHost = 'api.example.com';
export const apiOrigin = `https://${apiHost}`;

export function policyFor(changes: Partial<EgressPolicy> = {}): EgressPolicy {
  return {
    hosts: new Set([apiHost]),
    schemes: new Set(['https']),
    credentials: new Map(),
    inject: [],
    maxResponseBytes: 64 * 1024,
    maxRedirects: 3,
    timeoutMs: 5_000,
    ...changes,
  };
}

export function secretsOf(values: Readonly<Record<string, string>>): ReadonlyMap<string, Secret> {
  return new Map(Object.entries(values).map(([name, value]) => [name, new Secret(value)]));
}

export const never = new AbortController().signal;
