import { once } from 'node:events';
import { createServer } from 'node:net';

/** The ports of both addresses: `files` and `plugins`. */
export interface Ports {
  readonly files: number;
  readonly plugins: number;
}

/** Returns two different ports of the loopback interface that were free a moment ago. */
export async function findFreePorts(): Promise<Ports> {
  const files = await findFreePort();
  let plugins = files;
  while (plugins === files) plugins = await findFreePort();
  return { files, plugins };
}

/** Returns a port of the loopback interface that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}
