import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The way to a server, which can be cut and mended. */
export interface Line {
  /** The server's, by this way. */
  readonly url: string;
  /** What is open breaks, and nobody can connect. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** A way of its own to the server that `url` names. Cut it at the end. */
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
