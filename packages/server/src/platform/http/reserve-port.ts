import { once } from 'node:events';
import { createServer } from 'node:net';

export interface ReservedPort {
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
