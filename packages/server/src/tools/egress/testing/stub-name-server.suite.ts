import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Returns the addresses, or the other name, that a name resolves to at its nth lookup, counted from 1. */
export type Answers = (name: string, time: number) => readonly string[] | undefined;

/**
 * Starts a name server on 127.0.0.1:53 of a separate network namespace. It implements the necessary parts of RFC 1035.
 */
export async function startNameServer(answers: Answers): Promise<{ close(): Promise<void> }> {
  const socket = createSocket('udp4');
  const times = new Map<string, number>();
  socket.on('message', (query, peer) => {
    const { name, type, end } = readQuestion(query);
    const time = (times.get(`${name} ${type}`) ?? 0) + 1;
    times.set(`${name} ${type}`, time);
    const found = answers(name.toLowerCase(), time);
    const records = (found ?? []).flatMap((value) => record(value, type));
    const head = Buffer.from(query.subarray(0, 12));
    // The flags of a response with recursion available: no error, or no such name.
    head.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2);
    for (const [offset, count] of [
      [4, 1],
      [6, records.length],
      [8, 0],
      [10, 0],
    ] as const)
      head.writeUInt16BE(count, offset);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), peer.port, peer.address);
  });
  socket.bind(53, '127.0.0.1');
  await once(socket, 'listening');
  return {
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

const [typeA, typeName, typeAaaa] = [1, 5, 28];

/** Returns one record for the name in the question, or none when the address is of the other family. */
function record(value: string, recordType: number): Buffer[] {
  const family = isIP(value);
  if (family === 4 && recordType === typeA) return [resource(typeA, Buffer.from(value.split('.').map(Number)))];
  if (family === 6 && recordType === typeAaaa) return [resource(typeAaaa, bytes6(value))];
  if (family !== 0) return [];
  const labels = value.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]));
  return [resource(typeName, Buffer.concat([...labels, Buffer.of(0)]))];
}

function resource(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  // The name in the question, class IN, with a TTL of 0.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function bytes6(address: string): Buffer {
  const [, groups = ''] = /^http:\/\/\[(.*)\]/.exec(new URL(`http://[${address}]`).origin) ?? [];
  const [left = '', right] = groups.split('::');
  const numbers = (text: string | undefined): number[] =>
    text ? text.split(':').map((it) => Number.parseInt(it, 16)) : [];
  const [head, tail] = [numbers(left), numbers(right)];
  const middle = Array<number>(8 - head.length - tail.length).fill(0);
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...head, ...middle, ...tail].entries()) bytes.writeUInt16BE(group, index * 2);
  return bytes;
}
