import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What a silent proxy holds back. */
export type Direction = 'both' | 'requests' | 'answers';

/** A proxy between a client and a server on this machine that interrupts their connections. */
export interface TcpProxy {
  /** Returns the same URL with the address of the proxy. */
  readonly url: (target: string) => string;
  /** Directs new connections to this target and breaks open ones. */
  leadTo(target: string): void;
  /** Passes nothing on in these directions and breaks nothing, like a network that drops packets. */
  silence(direction?: Direction): void;
  /** Resumes forwarding, including data that arrived during the pause. */
  resume(): void;
  /** Passes answers on this many milliseconds later. */
  delay(milliseconds: number): void;
  /** Breaks open connections. */
  cut(): void;
  /** Returns the number of connections accepted so far. */
  accepted(): number;
  close(): Promise<void>;
}

/**
 * @param first a URL with the host and port of the server
 * @param host the address that the proxy listens on
 */
export async function startTcpProxy(first: string, host = '127.0.0.1'): Promise<TcpProxy> {
  let target = new URL(first);
  let held: Direction | undefined;
  let [accepted, late] = [0, 0];
  /** Each socket and what it sends. */
  const sockets = new Map<Socket, Direction>();

  /** Reads from a socket only while nothing holds its data back. */
  function applyTo(socket: Socket, sends: Direction): void {
    if (held === 'both' || held === sends) socket.pause();
    else socket.resume();
  }
  function join(client: Socket): void {
    accepted += 1;
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to, sends] of [
      [client, upstream, 'requests'],
      [upstream, client, 'answers'],
    ] as const) {
      sockets.set(from, sends);
      from.on('data', (bytes) => {
        if (late > 0 && sends === 'answers') setTimeout(() => to.writable && to.write(bytes), late);
        else if (!to.write(bytes)) from.pause();
      });
      to.on('drain', () => applyTo(from, sends));
      applyTo(from, sends);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }
  function hold(direction: Direction | undefined): void {
    held = direction;
    for (const [socket, sends] of sockets) applyTo(socket, sends);
  }
  function cut(): void {
    for (const socket of sockets.keys()) socket.destroy();
  }

  const server = createServer(join).listen(0, host);
  await once(server, 'listening');
  // it listens on TCP
  const { port } = server.address() as AddressInfo;
  return {
    url: (of) => {
      const url = new URL(of);
      url.host = `${host}:${port}`;
      return url.href;
    },
    leadTo(next) {
      target = new URL(next);
      cut();
    },
    silence: (direction = 'both') => hold(direction),
    resume: () => hold(undefined),
    delay(milliseconds) {
      late = milliseconds;
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
