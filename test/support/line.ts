import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A connection to a server that can be interrupted and restored. */
export interface Line {
  /** The URL of the server through this line. */
  readonly url: string;
  /** Breaks open connections and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Opens a line to the server that `url` names. Cut it at the end. */
export async function openLine(url: string): Promise<Line> {
  const ours = new URL(url);
  const target = { host: ours.hostname, port: Number(ours.port) };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
      one.pipe(other);
    }
  });
  const mend = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await mend(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  ours.host = `127.0.0.1:${address.port}`;
  return {
    url: ours.href,
    async cut() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: () => mend(address.port),
  };
}
