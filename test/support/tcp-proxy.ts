import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a client and a server on this machine that interrupts their connections. */
export interface TcpProxy {
  /** Returns the same URL with the address of the proxy. */
  readonly url: (target: string) => string;
  /** Directs new connections to this target and breaks open ones. */
  leadTo(target: string): void;
  /** Passes nothing on in either direction and breaks nothing, like a network that drops packets. */
  silence(): void;
  /** Resumes forwarding, including data that arrived during the pause. */
  resume(): void;
  /** Breaks open connections. */
  cut(): void;
  /** Returns the number of connections accepted so far. */
  accepted(): number;
  close(): Promise<void>;
}

/** @param first a URL with the host and port of the server */
export async function startTcpProxy(first: string): Promise<TcpProxy> {
  let target = new URL(first);
  let silent = false;
  let accepted = 0;
  const sockets = new Set<Socket>();

  function join(client: Socket): void {
    accepted += 1;
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      if (silent) from.pause();
      from.on('data', (bytes) => to.write(bytes));
      if (silent) from.pause();
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }
  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  const server = createServer(join).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // it listens on TCP
  const { port } = server.address() as AddressInfo;
  return {
    url: (of) => {
      const url = new URL(of);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    leadTo(next) {
      target = new URL(next);
      cut();
    },
    silence() {
      silent = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      silent = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    accepted: () => accepted,
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
