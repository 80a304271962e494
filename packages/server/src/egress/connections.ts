import net from 'node:net';
import tls from 'node:tls';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { bareHost, literalAddress } from './addresses.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}
/** All addresses of a name. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface ConnectionRules {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
  /** Milliseconds for name, connection and TLS together. */
  readonly connectTimeoutMs: number;
  /** Certificates to trust instead of the system's. */
  readonly ca?: string;
}

/** Kept-alive connections, one pool an origin. */
export interface Connections {
  /** `trusted`: the operator named this origin, so its address is not checked. Never shared with one that is. */
  poolFor(origin: string, trusted: boolean): ConnectionPool;
  close(): Promise<void>;
}

export interface ConnectionPool {
  readonly dispatcher: Dispatcher;
  /** Connections begun so far: whether a request had a connection of its own or one used before. */
  readonly opened: () => number;
}

/** Beyond this many origins the longest unused pool is closed (web records may name any host). */
const maxPools = 256;
const connectionsPerOrigin = 64;
/** Longest silence within a body. */
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
      // Ends the idle connections now and the busy ones when their requests are done.
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
    connections: connectionsPerOrigin,
    pipelining: 1,
    allowH2: false,
    // The whole call has a limit of its own, which covers the wait for the first byte.
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

/** The answer to "this name leads where we may not go"; told from other errors by `isAddressRefusal`. */
const refusals = new WeakSet<Error>();
export function isAddressRefusal(error: Error): boolean {
  return refusals.has(error);
}
function addressRefusal(hostname: string): Error {
  const error = new Error(`${JSON.stringify(hostname)} leads to an address that is not of the public internet`);
  refusals.add(error);
  return error;
}

async function openSocket(place: Place, trusted: boolean, rules: ConnectionRules): Promise<net.Socket> {
  const deadline = startDeadline(rules.connectTimeoutMs);
  let socket: net.Socket | undefined;
  try {
    const addresses = await deadline.race(addressesOf(place.hostname, rules.resolve));
    const allowed = addresses.length > 0 && addresses.every(({ address }) => trusted || rules.isAllowed(address));
    // One address that is not public spoils them all: an answer that mixes is an attack or a mistake.
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

/** Dials only the addresses that were checked: the name is not looked up again. */
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
  // Undici listens once it has the socket; an error before that must not be an unhandled one.
  socket.on('error', () => {});
  return socket;
}

function startTls(socket: net.Socket, hostname: string, ca: string | undefined): tls.TLSSocket {
  const secure = tls.connect({
    socket,
    host: hostname,
    ...(net.isIP(hostname) === 0 ? { servername: hostname } : {}),
    ALPNProtocols: ['http/1.1'],
    // Said here so that no environment variable can switch it off.
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
