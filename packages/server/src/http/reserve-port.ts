import { once } from 'node:events';
import { createServer } from 'node:net';

export interface ReservedPort {
  readonly port: number;
  /** Gives the port back, for the server that listens on it next. */
  release(): Promise<void>;
}

/** Takes a free port. No other program gets it until it is released. */
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
