import { EventEmitter } from 'node:events';
import { METHODS, STATUS_CODES } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { sendRequest } from './send-request.ts';
import { standIn } from './stand-ins.ts';

/** What the HTTP clients inside of pieces use of `node:http` and `node:https`. */

type Options = Readonly<Record<string, unknown>>;
type OnResponse = (response: Incoming) => void;

/** The largest request that the service accepts from a run. The service checks it again. */
const maxBodyBytes = 1024 * 1024;

class Agent extends EventEmitter {
  readonly options: object;
  readonly maxSockets = Number.POSITIVE_INFINITY;
  readonly requests = {};
  readonly sockets = {};
  readonly freeSockets = {};
  constructor(options: object = {}) {
    super();
    this.options = options;
  }
  destroy(): void {}
}

/** Clients wait for a socket and set its options. There is none: the broker connects. */
class NoSocket extends EventEmitter {
  readonly encrypted = true;
  readonly writable = true;
  readonly setTimeout = () => this;
  readonly setKeepAlive = () => this;
  readonly setNoDelay = () => this;
  readonly ref = () => this;
  readonly unref = () => this;
  readonly destroy = () => this;
}

class Incoming extends Readable {
  readonly httpVersion = '1.1';
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly rawHeaders: readonly string[];
  readonly trailers = {};
  readonly aborted = false;
  readonly complete = true;
  readonly socket: NoSocket;
  constructor(status: number, headers: Readonly<Record<string, string>>, socket: NoSocket) {
    super({ read: () => {} });
    this.statusCode = status;
    this.statusMessage = STATUS_CODES[status] ?? '';
    const cookies = headers['set-cookie'];
    this.headers = cookies === undefined ? headers : { ...headers, 'set-cookie': [cookies] };
    this.rawHeaders = Object.entries(headers).flat();
    this.socket = socket;
  }
  setTimeout(): this {
    return this;
  }
}

class ClientRequest extends Writable {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly protocol: string;
  readonly socket = new NoSocket();
  aborted = false;
  readonly #url: string;
  readonly #headers = new Map<string, string>();
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  constructor(url: URL, options: Options, onResponse: OnResponse | undefined) {
    super({ autoDestroy: false });
    this.method = String(options.method ?? 'GET').toUpperCase();
    [this.path, this.host, this.protocol, this.#url] = [
      url.pathname + url.search,
      url.hostname,
      url.protocol,
      url.href,
    ];
    for (const [name, value] of headerPairs(options.headers)) this.setHeader(name, value);
    if (typeof options.auth === 'string' && !this.hasHeader('authorization')) {
      this.setHeader('authorization', `Basic ${Buffer.from(options.auth).toString('base64')}`);
    }
    if (onResponse !== undefined) this.once('response', onResponse);
    if (options.signal instanceof AbortSignal) options.signal.addEventListener('abort', () => this.abort());
    process.nextTick(() => this.emit('socket', this.socket));
  }
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    done(this.#bytes > maxBodyBytes ? new Error('The body of the request is larger than 1 MiB.') : undefined);
  }
  override _final(done: () => void): void {
    done();
    void this.#send();
  }
  async #send(): Promise<void> {
    try {
      const [headers, body] = [this.#headers, Buffer.concat(this.#chunks)];
      const answer = await sendRequest({ method: this.method, url: this.#url, headers, body });
      if (this.destroyed) return;
      const response = new Incoming(answer.status, answer.headers, this.socket);
      response.once('close', () => this.destroy());
      response.push(answer.body);
      response.push(null);
      if (!this.emit('response', response)) response.resume();
    } catch (cause) {
      this.destroy(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }
  setHeader(name: string, value: unknown): this {
    this.#headers.set(name.toLowerCase(), [value].flat().map(String).join(', '));
    return this;
  }
  getHeader(name: string): string | undefined {
    return this.#headers.get(name.toLowerCase());
  }
  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }
  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }
  getHeaders(): Record<string, string> {
    return Object.fromEntries(this.#headers);
  }
  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }
  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    this.destroy(Object.assign(new Error('The request was aborted.'), { code: 'ABORT_ERR', name: 'AbortError' }));
  }
  flushHeaders(): void {}
  setTimeout(): this {
    return this;
  }
  setNoDelay(): void {}
  setSocketKeepAlive(): void {}
}

/** Reads the header forms of Node.js: an object, a list of pairs, or a flat list of names and values. */
function headerPairs(headers: unknown): Array<readonly [string, unknown]> {
  if (!Array.isArray(headers)) return Object.entries(Object(headers)).filter(([, value]) => value !== undefined);
  if (Array.isArray(headers[0])) return headers;
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[String(name), headers[at + 1]] as const] : []));
}

function urlOf(options: Options, protocol: string): URL {
  const { hostname = options.host ?? 'localhost', port, path = '/' } = options;
  const host = /^[^:]*:[^:]*:/.test(String(hostname)) ? `[${hostname}]` : hostname;
  return new URL(`${options.protocol ?? protocol}//${host}${port == null || port === '' ? '' : `:${port}`}${path}`);
}

function readArguments(protocol: string, args: readonly unknown[]): ConstructorParameters<typeof ClientRequest> {
  const [first, ...rest] = args;
  const onResponse = args.findLast((arg): arg is OnResponse => typeof arg === 'function');
  const isUrl = typeof first === 'string' || first instanceof URL;
  const given: unknown = isUrl ? rest[0] : first;
  const options: Options = typeof given === 'object' && given !== null ? { ...given } : {};
  if (!isUrl) return [urlOf(options, protocol), options, onResponse];
  const url = new URL(first);
  const auth = url.username === '' ? {} : { auth: decodeURIComponent(`${url.username}:${url.password}`) };
  [url.username, url.password] = ['', ''];
  return [url, { ...auth, ...options }, onResponse];
}

/** @param protocol with a colon */
export function createHttpModule(protocol: 'http:' | 'https:'): unknown {
  const request = (...args: unknown[]) => new ClientRequest(...readArguments(protocol, args));
  const get = (...args: unknown[]) => request(...args).end();
  return standIn(protocol.slice(0, -1), {
    request,
    get,
    Agent,
    globalAgent: new Agent(),
    ClientRequest,
    IncomingMessage: Incoming,
    METHODS: [...METHODS],
    STATUS_CODES: { ...STATUS_CODES },
    maxHeaderSize: 16_384,
    validateHeaderName: () => {},
    validateHeaderValue: () => {},
  });
}
