import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ending } from './service.ts';

/** Starts an HTTP server on a free port of 127.0.0.1, and closes it with the test. Returns its origin. */
export async function serve(t: Ending, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
}

export interface Sending extends Omit<RequestInit, 'headers'> {
  /** The API key; by default none is sent. */
  readonly key?: string | null | undefined;
  /** The body as a value. It makes the request a POST. */
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the responses of many operations
  readonly body: any;
  /** The code and the message of the error envelope. Without one, the message is the text. */
  readonly code: string | null;
  readonly message: string;
}

/** Sends a request and reads the whole response. */
export async function send(url: string, { key, json, ...init }: Sending = {}): Promise<Sent> {
  const answer = await fetch(url, {
    ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
    ...init,
    headers: {
      ...(key === undefined || key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...init.headers,
    },
  });
  return { headers: answer.headers, ...readAnswer(answer.status, await answer.text()) };
}

export function readAnswer(status: number, text: string): Omit<Sent, 'headers'> {
  const body = /^[{[]/.test(text) ? JSON.parse(text) : undefined;
  return { status, text, body, code: body?.error?.code ?? null, message: body?.error?.message ?? text };
}
