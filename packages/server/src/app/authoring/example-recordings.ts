import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Example } from '@quartermaster/plugin-kit';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import type { EgressRequest } from '../../platform/outbound.ts';
import { version } from '../../platform/version.ts';
import type { Catalogue, CompiledPlugin } from '../../tools/catalogue/catalogue.ts';
import type { Broker } from '../../tools/egress/broker.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { createExecutor } from '../../tools/execution/create-executor.ts';
import type { Executor } from '../../tools/execution/executor.ts';
import { openSandbox } from '../../tools/execution/sandbox/open-sandbox.ts';
import { bytesOf, isRequest, type RecordedCall, readCassette, recordRequest } from './cassette.ts';

/** An example and its position in the plugin's file. */
export interface PlacedExample {
  readonly plugin: CompiledPlugin;
  /** The position in the file, from 0. */
  readonly index: number;
  readonly example: Example;
}

const suffix = '.cassette.json';

export function examplesOf(plugin: CompiledPlugin): PlacedExample[] {
  return (plugin.manifest.examples ?? []).map((example, index) => ({ plugin, index, example }));
}

/** The path of an example's cassette, relative to the bundle. null when the example names a payload file. */
export function cassetteOf({ plugin, index, example }: PlacedExample): string | null {
  const { upstream = `${plugin.id}-${index + 1}${suffix}` } = example;
  if (!upstream.endsWith(suffix)) return null;
  return upstream.includes('/') ? upstream : `fixtures/${upstream}`;
}

/** Reads the recorded answers of an example, or returns a sentence that explains why there are none. */
export async function findRecording(placed: PlacedExample): Promise<Recording | { readonly wrong: string }> {
  const { plugin, example } = placed;
  const { folder } = plugin.bundle;
  const cassette = cassetteOf(placed);
  if (cassette !== null) {
    const text = await readInside(folder, [cassette]);
    if (text === null && example.upstream === undefined) return null;
    if (text === null)
      return { wrong: `the recording ${JSON.stringify(cassette)} does not exist; run "bundle record" to create it` };
    const read = readCassette(text.body.toString('utf8'));
    return read === null ? { wrong: `${cassette} is not a valid recording` } : { calls: read.calls };
  }
  const { upstream = '' } = example;
  const found = await readInside(folder, [upstream, join('fixtures', upstream)]);
  if (found === null) return { wrong: `the recording ${JSON.stringify(upstream)} does not exist` };
  return { body: found.body, contentType: `${mediaTypeOf(found.path)}; charset=utf-8` };
}

async function readInside(
  folder: string,
  names: readonly string[],
): Promise<{ readonly path: string; readonly body: Buffer } | null> {
  for (const path of names.map((name) => join(folder, name))) {
    if (!path.startsWith(`${folder}${sep}`)) continue;
    const body = await readFile(path).catch(() => null);
    if (body !== null) return { path, body };
  }
  return null;
}

function mediaTypeOf(path: string): string {
  if (path.endsWith('.xml')) return 'application/xml';
  return path.endsWith('.json') ? 'application/json' : 'text/plain';
}

/** The broker, sandbox and executor of the service, for one bundle at a time. */
interface BundleRuntime {
  readonly executor: Executor;
  close(): Promise<void>;
}

interface BundleRuntimeOptions {
  readonly catalogue: Catalogue;
  readonly overrides: ReadonlyMap<string, string>;
  readonly allow: readonly string[];
  /** Wraps the broker that plugins call. */
  readonly wrap: (broker: Broker) => Broker;
}

export async function openBundleRuntime(options: BundleRuntimeOptions): Promise<BundleRuntime> {
  const { catalogue, overrides, allow, wrap } = options;
  const [logger, metrics] = [createLogger('silent'), createMetrics()];
  const broker = createBroker({ overrides, allow, logger, version });
  const admission = createAdmission({ metrics });
  const sandbox = await openSandbox({
    admission,
    maxChildrenPerBundle: 1,
    memoryBudgetMb: 1_024,
    queueLength: 16,
    idleMs: 60_000,
    recycleAfterRuns: 1_000,
    logger,
    metrics,
  });
  const executor = createExecutor({
    admission,
    catalogue: () => catalogue,
    broker: wrap(broker),
    sandbox,
    newId: createNewId(),
    logger,
    metrics,
    version,
    // Each recording contains the check of the tool's definition too.
    limits: { toolBeliefMs: 0 },
  });
  return {
    executor,
    close: async () => {
      await sandbox.close();
      await broker.close();
    },
  };
}

/** The answers of every host: one payload for every call, the calls of a cassette, or null for none. */
export type Recording =
  | { readonly body: Buffer; readonly contentType: string }
  | { readonly calls: readonly RecordedCall[] }
  | null;

/** A server on 127.0.0.1 that answers for every host, and a broker that leads to it. */
export interface UpstreamStage {
  readonly origin: string;
  /** Wraps a broker so that recorded requests go to this server. Other requests are not sent. */
  replay(broker: Broker): Broker;
  play(recording: Recording): void;
  /** The number of recorded calls that were not requested. */
  left(): number;
  /** Whether a call came for which there is no recording. */
  hadNothing(): boolean;
  close(): Promise<void>;
}

/** The header that identifies the recorded call. Plugins cannot set it. */
const replayHeader = 'x-quartermaster-replay';

/** @param tokenPaths the token endpoints; their answers are not recorded, so the server grants a placeholder token */
export async function openUpstreamStage(tokenPaths: ReadonlySet<string>): Promise<UpstreamStage> {
  let recording: Recording = null;
  let used = new Set<number>();
  let hadNothing = false;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const called = request.headers[replayHeader];
    if (called === undefined && tokenPaths.has(request.url ?? '') && request.method === 'POST') {
      const token = { access_token: 'example-access-token', token_type: 'Bearer', expires_in: 3600 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(token));
    } else if (recording !== null && 'body' in recording) {
      response.writeHead(200, { 'content-type': recording.contentType }).end(recording.body);
    } else {
      const call = recording?.calls[Number(called)];
      hadNothing ||= call === undefined;
      if (call === undefined) response.writeHead(501).end('no response was recorded for this call');
      else response.writeHead(call.response.status, call.response.headers).end(bytesOf(call.response.body));
    }
  }
  const server = createServer((request, response) => {
    // The body is read completely, so that the connection can be reused.
    void buffer(request).then(() => answer(request, response));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo; // listens on TCP

  /** Finds the first matching call that was not used yet, because polling repeats the same request. */
  function findCall(calls: readonly RecordedCall[], request: EgressRequest): number {
    const asked = recordRequest(request);
    return calls.findIndex((call, index) => !used.has(index) && isRequest(call.request, asked));
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    replay: (broker) => ({
      close: () => broker.close(),
      send: async (request, policy, signal) => {
        if (recording === null || 'body' in recording) return await broker.send(request, policy, signal);
        const index = findCall(recording.calls, request);
        if (index < 0) return { kind: 'unreachable', message: notRecorded(request) };
        used.add(index);
        const headers = { ...request.headers, [replayHeader]: String(index) };
        return await broker.send({ ...request, headers }, policy, signal);
      },
    }),
    play: (next) => {
      recording = next;
      used = new Set();
      hadNothing = false;
    },
    left: () => (recording !== null && 'calls' in recording ? recording.calls.length - used.size : 0),
    hadNothing: () => hadNothing,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function notRecorded({ method, url, query = [] }: EgressRequest): string {
  const search = new URLSearchParams(query.map(([name, value]) => [name, value])).toString();
  const asked = `${method} ${url}${search === '' ? '' : `?${search}`}`;
  return `the recording has no call ${asked.slice(0, 500)} with this body; record the example again`;
}
