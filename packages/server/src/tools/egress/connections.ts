import net from 'node:net';
import tls from 'node:tls';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { bareHost, literalAddress } from './addresses.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}
/** Returns all addresses of a name. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface ConnectionRules {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
  /** Milliseconds for name lookup, connection and TLS together. */
  readonly connectTimeoutMs: number;
  /** The certificates to trust instead of those of the system. */
  readonly ca?: string;
}

/** Kept-alive connections, with one pool for each origin. */
export interface Connections {
  /**
   * Returns the pool of an origin. `trusted` means that the operator named the origin, so its address is not checked. Trusted and
   * checked origins share no pool.
   */
  poolFor(origin: string, trusted: boolean): ConnectionPool;
  close(): Promise<void>;
}

export interface ConnectionPool {
  readonly dispatcher: Dispatcher;
  /** The number of connections opened so far. It shows whether a request used a new connection or an existing one. */
  readonly opened: () => number;
}

/** The maximum number of pools. Beyond it the least recently used pool is closed, because web records may name any host. */
const maxPools = 256;
/** The maximum number of milliseconds without data within a body. */
const idleTimeoutMs = 10_000;

export function createConnections(rules: ConnectionRules): Connections {
  const pools = new Map<string, ConnectionPool & { readonly pool: Pool }>();

  function poolFor(origin: string, trusted: boolean): ConnectionPool {
    const key = trusted ? `trusted ${origin}` : origin;
    const found = pools.get(key) ?? openPool(origin, trusted, rules);
    pools.delete(key);
    pools.set(key, found);
    const [oldest] = pools;
    if (pools.size > maxPools && oldest !== undefined) {
      pools.delete(oldest[0]);
      // Closes idle connections now and busy ones when their requests end.
      void oldest[1].pool.close();
    }
    return found;
  }

  async function close(): Promise<void> {
    const all = [...pools.values()];
    pools.clear();
    await Promise.all(all.map(({ pool }) => pool.destroy()));
  }

  return { poolFor, close };
}

function openPool(origin: string, trusted: boolean, rules: ConnectionRules) {
  let opened = 0;
  const connect: buildConnector.connector = (options, callback) => {
    opened += 1;
    dial({ hostname: bareHost(options.hostname), port: portOf(options), tls: options.protocol === 'https:' }).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(asError(error), null),
    );
  };
  const dial = (place: Place) => openSocket(place, trusted, rules);
  const pool = new Pool(origin, {
    connect,
    // No limit: requests above it would wait behind those of other callers, which a slow third party may not answer for
    // minutes. The limits of runs bound the number of requests.
    connections: null,
    pipelining: 1,
    allowH2: false,
    // The time limit of the whole call covers the wait for the first byte.
    headersTimeout: 0,
    bodyTimeout: idleTimeoutMs,
    keepAliveTimeout: 10_000,
  });
  return { dispatcher: pool, pool, opened: () => opened };
}

interface Place {
  readonly hostname: string;
  readonly port: number;
  readonly tls: boolean;
}

/** Errors for names that resolve to forbidden addresses. `isAddressRefusal` recognises them. */
const refusals = new WeakSet<Error>();
export function isAddressRefusal(error: Error): boolean {
  return refusals.has(error);
}
function addressRefusal(hostname: string): Error {
  const error = new Error(`${JSON.stringify(hostname)} resolves to an address that is not on the public internet`);
  refusals.add(error);
  return error;
}

async function openSocket(place: Place, trusted: boolean, rules: ConnectionRules): Promise<net.Socket> {
  const deadline = startDeadline(rules.connectTimeoutMs);
  let socket: net.Socket | undefined;
  try {
    const addresses = await deadline.race(addressesOf(place.hostname, rules.resolve));
    const allowed = addresses.length > 0 && addresses.every(({ address }) => trusted || rules.isAllowed(address));
    // One non-public address is enough to refuse the name: a mixed answer is an attack or a misconfiguration.
    if (!allowed) throw addressRefusal(place.hostname);
    socket = connectTo(addresses, place);
    await deadline.race(once(socket, 'connect'));
    const remote = socket.remoteAddress ?? '';
    if (!trusted && !rules.isAllowed(remote)) throw addressRefusal(place.hostname);
    if (!place.tls) return socket;
    const secure = startTls(socket, place.hostname, rules.ca);
    await deadline.race(once(secure, 'secureConnect'));
    return secure;
  } catch (error) {
    socket?.destroy();
    throw error;
  } finally {
    deadline.stop();
  }
}

async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly ResolvedAddress[]> {
  const literal = literalAddress(hostname);
  return literal === null ? await resolve(hostname) : [{ address: literal, family: net.isIP(literal) }];
}

/** Connects only to the checked addresses. The name is not looked up again. */
function connectTo(addresses: readonly ResolvedAddress[], place: Place): net.Socket {
  const socket = net.connect({
    host: place.hostname,
    port: place.port,
    noDelay: true,
    autoSelectFamily: addresses.length > 1,
    lookup: (_hostname, options, callback) => {
      const [first] = addresses;
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address ?? '', first?.family ?? 0);
    },
  });
  // Handles errors until undici listens on the socket.
  socket.on('error', () => {});
  return socket;
}

function startTls(socket: net.Socket, hostname: string, ca: string | undefined): tls.TLSSocket {
  const secure = tls.connect({
    socket,
    host: hostname,
    ...(net.isIP(hostname) === 0 ? { servername: hostname } : {}),
    ALPNProtocols: ['http/1.1'],
    // Set explicitly, so that no environment variable can disable it.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
  secure.on('error', () => {});
  return secure;
}

function once(socket: net.Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' })));
  });
}

function startDeadline(milliseconds: number) {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const timer = setTimeout(() => {
    reject(Object.assign(new Error(`no connection within ${milliseconds} ms`), { code: 'ETIMEDOUT' }));
  }, milliseconds);
  return {
    race: <T>(step: Promise<T>): Promise<T> => Promise.race([step, promise]),
    stop: () => clearTimeout(timer),
  };
}

function portOf(options: buildConnector.Options): number {
  if (options.port !== '') return Number(options.port);
  return options.protocol === 'https:' ? 443 : 80;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
