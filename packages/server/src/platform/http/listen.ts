import type { AddressInfo } from 'node:net';
import { OperatorError } from '../server-process/operator-error.ts';
import type { App } from './app.ts';
import { listReachableUrls } from './reachable-urls.ts';

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
