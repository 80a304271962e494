import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { LoadConnection } from '../load.ts';

/** Codes of MySQL's protocol, which SphinxQL uses. */
const query = 0x03;
const endOfRows = 0xfe;
const failure = 0xff;
/** Packets that begin with 0xfe are ends only if they are shorter. */
const longestEnd = 9;
/** PROTOCOL_41, SECURE_CONNECTION and LONG_PASSWORD. */
const capabilities = 0x8201;

/** Opens a connection to searchd on this machine that sends these statements in turn. */
export async function connectSphinx(port: number, next: () => string): Promise<LoadConnection> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  const packets = readPackets(socket);
  const receive = async () => (await packets.next()).value as Buffer | undefined;
  await receive(); // the greeting
  const login = Buffer.alloc(34);
  login.writeUInt32LE(capabilities, 0);
  login.writeUInt32LE(2 ** 24, 4);
  login.writeUInt8(33, 8);
  socket.write(packet(1, login));
  if ((await receive())?.[0] !== 0) throw new Error('searchd has refused the login');
  return {
    async ask() {
      socket.write(packet(0, Buffer.concat([Buffer.of(query), Buffer.from(next())])));
      // The columns and the rows each end with a packet.
      for (let ends = 0; ends < 2; ) {
        const received = await receive();
        if (received === undefined) return undefined;
        if (received[0] === failure) return false;
        if (received[0] === endOfRows && received.length < longestEnd) ends++;
      }
      return true;
    },
    close: () => socket.destroy(),
  };
}

function packet(number: number, content: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(content.length, 0, 3);
  head.writeUInt8(number, 3);
  return Buffer.concat([head, content]);
}

async function* readPackets(socket: Socket): AsyncGenerator<Buffer> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const part of socket as AsyncIterable<Buffer>) {
    pending = pending.length === 0 ? part : Buffer.concat([pending, part]);
    while (pending.length >= 4) {
      const end = 4 + pending.readUIntLE(0, 3);
      if (pending.length < end) break;
      yield pending.subarray(4, end);
      pending = pending.subarray(end);
    }
  }
}
