import { connect, type Socket } from 'node:net';

interface LoadSize {
  readonly connections: number;
  readonly seconds: number;
}

export interface Load extends LoadSize {
  /** `http://host:port` */
  readonly url: string;
  /** The whole request, ready to send, or several that are sent in turn. */
  readonly request: Buffer | readonly Buffer[];
  /** Bytes of the request, found by their value, that change with each request. */
  readonly stamp?: Buffer | undefined;
}

export interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Responses with a status other than 200. */
  readonly failures: number;
  /** All responses, including those of the warm-up. */
  readonly responses: number;
}

/** A connection of a load. It has one request under way. */
export interface LoadConnection {
  /** Sends the next request. Returns whether it succeeded, or undefined when the connection has ended. */
  ask(): Promise<boolean | undefined>;
  close(): void;
}

/** An HTTP/1.1 request as bytes, for {@link Load}. */
export function requestBytes(
  method: string,
  path: string,
  options: { headers?: Readonly<Record<string, string>>; body?: Buffer | string } = {},
): Buffer {
  const body = Buffer.from(options.body ?? '');
  const headers = {
    Host: 'localhost',
    ...options.headers,
    ...(body.length > 0 ? { 'Content-Length': body.length } : {}),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}

/**
 * Sends requests over `connections` sockets for `seconds`, one request at a time on each. It uses plain sockets and a
 * parser for exactly our responses, so that the client costs little compared with the server it measures. The service
 * and the floor use the same client.
 */
export async function runLoad({ url, request, stamp, ...size }: Load): Promise<Measured> {
  return await measureLoad(size, openRequests({ url, request, stamp }));
}

/** Returns a function that opens connections, which send the requests in turn. */
export function openRequests({ url, request, stamp }: Pick<Load, 'url' | 'request' | 'stamp'>): () => LoadConnection {
  const { hostname, port } = new URL(url);
  const requests = [request].flat();
  let sent = 0;
  return () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const answers = readAnswers(socket);
    return {
      async ask() {
        sent++;
        socket.write(stamped(requests[sent % requests.length] as Buffer, stamp, sent)); // the remainder is a place of it
        const { value: status } = await answers.next();
        return status === undefined ? undefined : status === 200;
      },
      close: () => socket.destroy(),
    };
  };
}

function stamped(request: Buffer, stamp: Buffer | undefined, number: number): Buffer {
  if (stamp === undefined) return request;
  const copy = Buffer.from(request);
  copy.write(String(number).padStart(16, '0'), copy.indexOf(stamp));
  return copy;
}

/** Measures requests of any protocol over several connections. */
export async function measureLoad(
  { connections, seconds }: LoadSize,
  open: () => LoadConnection | Promise<LoadConnection>,
): Promise<Measured> {
  const latencies: number[] = [];
  let failures = 0;
  let responses = 0;
  const warmUntil = performance.now() + 500;
  const end = warmUntil + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await open();
      for (let now = performance.now(); now < end; now = performance.now()) {
        const succeeded = await connection.ask();
        const done = performance.now();
        responses++;
        if (now >= warmUntil) latencies.push(done - now);
        if (succeeded !== true) failures++;
        if (succeeded === undefined) break;
      }
      connection.close();
    }),
  );
  latencies.sort((a, b) => a - b);
  return {
    perSecond: latencies.length / seconds,
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    failures,
    responses,
  };
}

/**
 * Yields the status of each response after its last byte. It understands only Content-Length, the only framing that is
 * sent.
 */
async function* readAnswers(socket: Socket): AsyncGenerator<number> {
  let pending: Buffer[] = [];
  let have = 0;
  let need = Number.POSITIVE_INFINITY;
  let status = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    pending.push(chunk);
    have += chunk.length;
    while (have > 0) {
      if (need === Number.POSITIVE_INFINITY) {
        const head = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending); // the chunk is there at least
        pending = [head];
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) break;
        const text = head.toString('latin1', 0, end);
        status = Number(text.slice(9, 12));
        const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
        if (length === undefined) throw new Error(`an answer without Content-Length: ${text.slice(0, 200)}`);
        need = end + 4 + Number(length);
      }
      if (have < need) break;
      const rest = have - need;
      pending = rest > 0 ? [Buffer.concat(pending).subarray(need)] : [];
      have = rest;
      need = Number.POSITIVE_INFINITY;
      yield status;
    }
  }
}
