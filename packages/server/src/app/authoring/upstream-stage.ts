import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { EgressRequest } from '../../platform/outbound.ts';
import type { Broker } from '../../tools/egress/broker.ts';
import { bytesOf, isRequest, type RecordedCall, recordRequest } from './cassette.ts';

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
