import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Ending } from './service.ts';

/** A proxy between a client and a PostgreSQL server. */
export interface CuttingProxy {
  /** The URL of the server through the proxy. */
  readonly url: string;
  /**
   * Disconnects the client of the next COMMIT of a transaction with a statement that contains this text, after the
   * COMMIT was sent to the server. The server still executes the COMMIT.
   */
  cutCommitAfter(statement: string): Promise<void>;
}

/** A statement in the protocol: its text up to a NUL, in any message. */
const commit = /\0?commit\0/i;

export async function startCuttingProxy(t: Ending, serverUrl: string): Promise<CuttingProxy> {
  const target = new URL(serverUrl);
  const open = new Set<Socket>();
  let armed: { readonly statement: string; readonly tell: () => void } | undefined;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => socket.destroy());
    }
    upstream.on('data', (data) => client.write(data));
    upstream.on('close', () => client.destroy());
    let isCut = false;
    let isMeant = false;
    client.on('data', (data) => {
      upstream.write(data);
      const text = data.toString('latin1');
      isMeant ||= armed !== undefined && text.includes(armed.statement);
      if (!commit.test(text)) return;
      if (isMeant && armed !== undefined) {
        isCut = true;
        client.resetAndDestroy();
        armed.tell();
        armed = undefined;
      }
      isMeant = false;
    });
    // The server learns of the disconnection only after it has executed the statement.
    client.on('close', () => {
      if (!isCut) upstream.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server on a port has an address');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return {
    url: url.href,
    cutCommitAfter: (statement) =>
      new Promise((resolve) => {
        armed = { statement, tell: resolve };
      }),
  };
}
