import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { Quartermaster, type QuartermasterOptions } from '../quartermaster.ts';

export const testKey = 'qm_test_0123456789abcdef';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export type Responder = (response: ServerResponse, request: ReceivedRequest) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  readonly client: Quartermaster;
  /** Returns a client with other options. */
  connect(options?: Partial<QuartermasterOptions>): Quartermaster;
}

/** Starts a server whose nth request gets the nth response, and further requests the last one. */
export async function startScriptedServer(t: TestContext, ...responders: Responder[]): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const body = await readText(request);
    if (body === null) return;
    const received = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    const respond = responders[Math.min(requests.length, responders.length - 1)];
    requests.push(received);
    respond?.(response, received);
  });
  server.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  const url = `http://127.0.0.1:${port}`;
  const connect = (options: Partial<QuartermasterOptions> = {}) =>
    new Quartermaster({ baseUrl: url, apiKey: testKey, ...options });
  return { url, requests, client: connect(), connect };
}

/** @returns null when the client disconnected */
async function readText(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  } catch {
    return null;
  }
}

/** Responds with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Responder {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req-1', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Responds with an error of the service. */
export function refusal(status: number, code: string, headers: Record<string, string> = {}): Responder {
  return json({ status: 'error', error: { code, message: 'No.', request_id: 'req-1' } }, status, headers);
}

/** Responds with something that is not JSON. */
export function text(body: string, status = 200, headers: Record<string, string> = {}): Responder {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'text/html', ...headers });
    response.end(body);
  };
}

/** Closes the connection without a response. */
export const hangUp: Responder = (response) => response.socket?.destroy();

/** Never responds. */
export const stall: Responder = () => undefined;

/** The success envelope. */
export function success(data: unknown): Responder {
  return json({ status: 'success', data });
}
