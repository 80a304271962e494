import type { AddressInfo } from 'node:net';
import type { App } from './app.ts';
import { listReachableUrls } from './reachable-urls.ts';

/** A server that listens. */
export interface Listening {
  /** Such as `http://127.0.0.1:8080`; the first of `urls`. */
  readonly url: string;
  /** All URLs that open it. */
  readonly urls: readonly string[];
  /**
   * Takes no new connection, lets requests in flight finish, and cuts those that have not after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The setting of the port, for the error. */
  readonly setting: string;
}

const sweepMs = 20;

/** @throws Error with the remedy when the server cannot listen there */
export async function listen(app: App, options: ListenOptions): Promise<Listening> {
  const { host, port } = options;
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw new Error(describeRefusal(cause as NodeJS.ErrnoException, options), { cause });
  }
  // A server that listens on TCP has an AddressInfo.
  const address = app.server.address() as AddressInfo;
  const urls = listReachableUrls(address.address, address.port);
  return {
    url: urls[0],
    urls,
    close: async (graceMs) => {
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
      // Node closes those that are idle when the server is told to stop, and leaves one whose answer ends later open
      // until its keep-alive is over: an event stream that has just been ended would hold the stop up for seconds.
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
