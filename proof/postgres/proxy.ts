import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The behaviour of the line to the server. */
export type LineMode =
  | 'pass'
  /** New connections are refused, and open ones are reset. */
  | 'cut'
  /** Each direction takes 200 ms longer. */
  | 'delay'
  /** Nothing arrives, and no connection ends. */
  | 'silent'
  /** Every third COMMIT reaches the server, and its connection is reset before the response arrives. */
  | 'cut after COMMIT'
  /**
   * Every third COMMIT is held back for a second. Its client is reset immediately, so the commit arrives after the
   * error.
   */
  | 'late COMMIT';

export const lineModes: readonly LineMode[] = ['cut', 'delay', 'cut after COMMIT', 'late COMMIT', 'silent'];

export interface Proxy {
  /** The URL of the server through this line. */
  readonly url: string;
  set(mode: LineMode): void;
  /** Returns the number of commits whose outcome their client did not learn. */
  commitsInDoubt(): number;
  close(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

const delay = 200;
const late = 1_000;

/** Opens a proxy to the server that `url` names. */
export async function openProxy(url: string): Promise<Proxy> {
  const ours = new URL(url);
  const target = { host: ours.hostname, port: Number(ours.port) };
  const pairs = new Set<Pair>();
  let mode: LineMode = 'pass';
  let [commits, inDoubt] = [0, 0];

  const onRequest = (pair: Pair, data: Buffer) => {
    if (mode === 'silent') return;
    const isCommit = /commit\0/i.test(data.toString('latin1'));
    if (isCommit && (mode === 'cut after COMMIT' || mode === 'late COMMIT') && ++commits % 3 === 0) {
      inDoubt += 1;
      // The client loses its connection, and the server still receives the commit.
      pair.far.removeAllListeners('data');
      pair.far.resume();
      const send = () => pair.far.end(data);
      setTimeout(() => pair.near.resetAndDestroy(), mode === 'late COMMIT' ? 0 : 50);
      setTimeout(send, mode === 'late COMMIT' ? late : 0);
      return;
    }
    if (mode === 'delay') setTimeout(() => pair.far.writable && pair.far.write(data), delay);
    else pair.far.write(data);
  };
  const onAnswer = (pair: Pair, data: Buffer) => {
    if (mode === 'silent') return;
    if (mode === 'delay') setTimeout(() => pair.near.writable && pair.near.write(data), delay);
    else pair.near.write(data);
  };

  const server = createServer((near) => {
    if (mode === 'cut') return void near.resetAndDestroy();
    const pair: Pair = { near, far: connect(target) };
    pairs.add(pair);
    near.on('data', (data: Buffer) => onRequest(pair, data)).on('error', () => {});
    pair.far.on('data', (data: Buffer) => onAnswer(pair, data)).on('error', () => {});
    near.on('close', () => {
      pairs.delete(pair);
      // A commit that is under way still arrives.
      setTimeout(() => pair.far.destroy(), 2 * late);
    });
    pair.far.on('close', () => void near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  ours.host = `127.0.0.1:${address.port}`;
  const cut = () => {
    for (const { near, far } of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  };
  return {
    url: ours.href,
    set: (next) => {
      mode = next;
      if (next === 'cut') cut();
    },
    commitsInDoubt: () => inDoubt,
    close: async () => {
      server.close();
      cut();
    },
  };
}
