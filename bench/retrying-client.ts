import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The response with status 200, or why both attempts failed. */
export type Outcome =
  | { readonly ok: true; readonly body: Buffer; readonly retried: boolean }
  | { readonly ok: false; readonly reasons: readonly string[] };

export interface RetryingClient {
  /** Sends an idempotent request at most twice. */
  send(call: Call): Promise<Outcome>;
  close(): void;
}

const beforeRetryMs = 50;
const betweenConnectsMs = 20;
/**
 * Milliseconds that a client waits for a restart. A supervisor restarts the service immediately, so a longer absence
 * fails the request.
 */
const maxRetryMs = 60_000;

/**
 * Creates a client with one connection per address, reused until the server closes it; Node's agent honours
 * `Connection: close`. Any failure of the first attempt, including a refused connection, uses up the one retry. The
 * retry itself is repeated only while no process listens, because then no part of it has reached a service.
 */
export function createRetryingClient(): RetryingClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  async function retry(call: Call): Promise<Attempt> {
    const last = performance.now() + maxRetryMs;
    for (;;) {
      const attempt = await tryOnce(agent, call);
      if (!attempt.refused || performance.now() > last) return attempt;
      await pause(betweenConnectsMs);
    }
  }

  return {
    async send(call) {
      const first = await tryOnce(agent, call);
      if (first.body !== null) return { ok: true, body: first.body, retried: false };
      await pause(beforeRetryMs);
      const second = await retry(call);
      if (second.body !== null) return { ok: true, body: second.body, retried: true };
      return { ok: false, reasons: [first.reason, second.reason] };
    },
    close: () => agent.destroy(),
  };
}

interface Attempt {
  /** The body; null when the request failed. */
  readonly body: Buffer | null;
  readonly reason: string;
  /** No process listened on the port. */
  readonly refused: boolean;
}

async function tryOnce(agent: Agent, call: Call): Promise<Attempt> {
  try {
    const { status, body } = await exchange(agent, call);
    if (status === 200) return { body, reason: '', refused: false };
    return { body: null, reason: `${status} ${body.toString('utf8').slice(0, 150)}`, refused: false };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { body: null, reason: `${code} ${message}`, refused: code === 'ECONNREFUSED' };
  }
}

async function exchange(agent: Agent, { method, url, headers, body }: Call): Promise<{ status: number; body: Buffer }> {
  const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
  const sent = request(url, { agent, method, headers: { ...headers, ...length } });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // The listener stays, because a reset during the response emits the error on both objects.
    sent.on('response', resolve).on('error', reject);
    sent.end(body);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) };
}
