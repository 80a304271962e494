import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { OperatorError } from '../server-process/operator-error.ts';
import type { App } from './app.ts';

/** A server that is listening. */
export interface Listening {
  /** For example `http://127.0.0.1:8080`; the first of `urls`. */
  readonly url: string;
  /** All URLs that reach the server. */
  readonly urls: readonly string[];
  /** Refuses new connections, waits for requests in progress, and aborts those that take longer than `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The name of the port's setting, for the error. */
  readonly setting: string;
}

const sweepMs = 20;

/** @throws OperatorError with the remedy when the server cannot listen on the port */
export async function listen(app: App, options: ListenOptions): Promise<Listening> {
  const { host, port } = options;
  try {
    await listenSilently(app, { host, port });
  } catch (cause) {
    await app.close();
    throw new OperatorError(describeRefusal(cause as NodeJS.ErrnoException, options), { cause });
  }
  // A server that listens on TCP has an AddressInfo.
  const address = app.server.address() as AddressInfo;
  const urls = listReachableUrls(address.address, address.port);
  return {
    url: urls[0],
    urls,
    close: async (graceMs) => {
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
      // At the close, Node closes only connections that are idle then. A connection whose response ends later stays
      // open until its keep-alive timeout. An ended event stream would therefore delay the shutdown by seconds.
      const sweep = setInterval(() => app.server.closeIdleConnections(), sweepMs);
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
        clearInterval(sweep);
      }
    },
  };
}

function describeRefusal({ code, message }: NodeJS.ErrnoException, { host, port, setting }: ListenOptions): string {
  if (code === 'EADDRINUSE') {
    return `Port ${port} of ${host} is in use by another program. Stop that program, or set ${setting} to another port.`;
  }
  if (code === 'EACCES') {
    return `The system does not allow this user to listen on port ${port}. Set ${setting} to a port above 1023.`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `${host} is not an address of this machine. Set QUARTERMASTER_HOST to one, or to 0.0.0.0 for all of them.`;
  }
  return `The service cannot listen on port ${port} of ${host} (${message}). Check QUARTERMASTER_HOST and ${setting}.`;
}

/** Leaves out Fastify's line for each address, because the line `service started` names the addresses. */
async function listenSilently(app: App, address: { readonly host: string; readonly port: number }): Promise<void> {
  const { level } = app.log;
  app.log.level = 'warn';
  try {
    await app.listen(address);
  } finally {
    app.log.level = level;
  }
}

interface ReservedPort {
  readonly port: number;
  /** Releases the port for the server that listens on it next. */
  release(): Promise<void>;
}

/** Reserves a free port. No other program can use it until it is released. */
export async function reservePort(host: string): Promise<ReservedPort> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  server.unref();
  return {
    port: address.port,
    release: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

/** Limits the list, because a machine with containers has dozens of addresses. */
const maxUrls = 4;

/**
 * Lists the URLs that reach a server. For a server on one address, this is the URL of that address. For a server on all
 * addresses, those of the network come first and the loopback address last. Link-local addresses are omitted, because a
 * browser cannot open them.
 */
export function listReachableUrls(
  host: string,
  port: number,
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): [string, ...string[]] {
  if (host !== '0.0.0.0' && host !== '::') return [toUrl(host, port)];
  const addresses = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .filter(({ internal, address, family }) => {
      return !internal && !/^(fe80:|169\.254\.)/i.test(address) && (host === '::' || family === 'IPv4');
    })
    .sort((a, b) => a.family.localeCompare(b.family))
    .slice(0, maxUrls - 1)
    .map(({ address }) => toUrl(address, port));
  const [first, ...others] = [...addresses, toUrl('127.0.0.1', port)];
  return [first ?? toUrl('127.0.0.1', port), ...others];
}

function toUrl(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
