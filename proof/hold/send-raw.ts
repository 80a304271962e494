import { Agent, request as httpRequest } from 'node:http';
import type { StartedService } from '../../test/support/service.ts';

export interface RawRequest {
  readonly address: 'files' | 'plugins';
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends requests unchanged, with the key of the service. */
export interface Sender {
  /** Returns the status, or the reason why there was no response. */
  send(request: RawRequest): Promise<string>;
  /**
   * Returns the response.
   * @throws Error when no response arrives in time
   */
  ask(request: RawRequest): Promise<RawAnswer>;
  /** Returns the longest wait for a response since the last call, in milliseconds. */
  takeLongestWait(): number;
  close(): void;
}

/** Milliseconds to wait for a response. */
const timeoutMs = 8_000;

export function createSender({ filesUrl, pluginsUrl, key }: StartedService): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });

  let longest = 0;

  async function ask(request: RawRequest): Promise<RawAnswer> {
    const begun = performance.now();
    try {
      return await exchange(request);
    } finally {
      longest = Math.max(longest, performance.now() - begun);
    }
  }

  function exchange({ address, method, path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
    const url = new URL(address === 'files' ? filesUrl : pluginsUrl);
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return new Promise((resolve, reject) => {
      const sent = httpRequest({
        agent,
        host: url.hostname,
        port: url.port,
        method,
        path,
        headers: {
          Host: url.host,
          Authorization: `Bearer ${key}`,
          ...(bytes === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': bytes.length }),
          ...headers,
        },
        signal: AbortSignal.timeout(timeoutMs),
      });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        const status = answer.statusCode ?? 0;
        // An event stream counts as answered when it begins, because it stays open.
        if (String(answer.headers['content-type']).startsWith('text/event-stream')) {
          resolve({ status, text: '' });
          sent.destroy();
          return;
        }
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => resolve({ status, text: Buffer.concat(parts).toString() }));
      });
      sent.end(bytes);
    });
  }

  return {
    ask,
    send: async (request) => {
      try {
        return String((await ask(request)).status);
      } catch (error) {
        const name = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
        // The service may answer and close the connection before it has read a body that it refuses.
        return name === 'ABORT_ERR' ? 'no answer' : name;
      }
    },
    takeLongestWait: () => {
      const wait = longest;
      longest = 0;
      return wait;
    },
    close: () => agent.destroy(),
  };
}
