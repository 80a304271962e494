import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Ending } from './service.ts';

/** An HTTP proxy in front of one address of the service. */
export interface LossyProxy {
  readonly url: string;
  /** Breaks the connection instead of passing on the next responses, after the service has sent them. */
  loseResponses(count: number): void;
  /** Returns how many responses were lost. */
  lost(): number;
  /** Sends further requests to another address. */
  forwardTo(url: string): void;
}

export async function startLossyProxy(t: Ending, targetUrl: string): Promise<LossyProxy> {
  let target = targetUrl;
  let [toLose, lost] = [0, 0];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const forwarded = sendRequest(new URL(url, target), { method, headers, agent: false }, (response) => {
      if (toLose === 0) {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
        response.on('error', () => outgoing.destroy());
        return;
      }
      toLose -= 1;
      lost += 1;
      response.resume();
      incoming.socket.destroy();
    });
    forwarded.on('error', () => incoming.socket.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    loseResponses: (count) => {
      toLose = count;
    },
    lost: () => lost,
    forwardTo: (url) => {
      target = url;
    },
  };
}
