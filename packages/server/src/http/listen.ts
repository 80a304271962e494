import type { AddressInfo } from 'node:net';
import type { App } from './app.ts';

/** A server that listens. */
export interface Listening {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /**
   * Takes no new connection, lets requests in flight finish, and cuts those that have not after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

const sweepMs = 20;

/** @throws Error that names the port when it is taken. */
export async function listen(app: App, host: string, port: number): Promise<Listening> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw new Error(`cannot listen on ${host}:${port}: ${(cause as Error).message}`, { cause });
  }
  // A server that listens on TCP has an AddressInfo.
  const address = app.server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
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
