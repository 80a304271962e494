import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startService } from '../../test/support/service.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings } from '../support/endings.ts';
import { memoryOf } from './expressions.ts';
import { probeHealth } from './probe-health.ts';

/** The maximum number of MiB that the peers may add to the memory of the service. */
const mostMemory = 500;

interface Kind {
  readonly name: string;
  /** Sent immediately. `drip` follows, a few bytes at a time. */
  readonly head: (host: string, key: string, fileId: string) => string;
  readonly address: 'filesUrl' | 'pluginsUrl';
  readonly drip: string;
  /** Whether the peer reads the response. */
  readonly reads: boolean;
}

const request = (line: string, host: string, key: string, ...headers: string[]) =>
  [line, `Host: ${host}`, `Authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');

const kinds: readonly Kind[] = [
  { name: 'silent', address: 'filesUrl', head: () => '', drip: '', reads: true },
  {
    name: 'half of the headers',
    address: 'filesUrl',
    head: () => 'GET /v1/files HTTP/1.1\r\nX-A: ',
    drip: 'a',
    reads: true,
  },
  {
    ...{ name: 'slow upload', address: 'filesUrl', drip: 'a', reads: true },
    head: (host, key) =>
      `${request('POST /v1/files HTTP/1.1', host, key, 'Content-Type: multipart/form-data; boundary=b', 'Content-Length: 100000')}--b\r\n`,
  },
  {
    ...{ name: 'slow JSON', address: 'pluginsUrl', drip: ' ', reads: true },
    head: (host, key) =>
      `${request('POST /v1/execute HTTP/1.1', host, key, 'Content-Type: application/json', 'Content-Length: 100000')}{`,
  },
  {
    ...{ name: 'reads nothing', address: 'filesUrl', drip: '', reads: false },
    head: (host, key, fileId) => request(`GET /v1/files/${fileId}/content HTTP/1.1`, host, key),
  },
];

/** Runs peers that send or read as slowly as they can, beside honest requests. */
export async function slowPeers(options: PartOptions): Promise<PartReport> {
  const endings = createEndings();
  const folder = join(options.work, 'slow');
  mkdirSync(folder, { recursive: true });
  const each = options.slice ? 40 : 200;
  const seconds = options.slice ? 12 : 90;
  const sockets: Socket[] = [];
  try {
    const service = await startService(endings, { folder });
    const content = new Blob(['a line of a large file\n'.repeat(400_000)]);
    const { file_id } = await service.client.files.upload(content, { purpose: 'record_file', name: 'large.txt' });
    const before = memoryOf(service.process.pid);
    const health = probeHealth(service);
    let closed = 0;
    for (const kind of kinds) {
      for (let count = 0; count < each; count++) {
        const { hostname, port, host } = new URL(service[kind.address]);
        const socket = connect({ host: hostname, port: Number(port) }).on('error', () => {});
        socket.once('close', () => void closed++);
        await once(socket, 'connect');
        socket.write(kind.head(host, service.key, file_id));
        if (kind.reads) socket.resume();
        if (kind.drip !== '') {
          const timer = setInterval(() => socket.writable && socket.write(kind.drip), 1_500);
          socket.once('close', () => clearInterval(timer));
        }
        sockets.push(socket);
      }
    }
    let honest = 0;
    for (const end = performance.now() + seconds * 1_000; performance.now() < end; honest++) {
      const file = await service.client.files.upload(new Blob([`${honest}`]), {
        purpose: 'record_file',
        name: 'h.txt',
      });
      const bytes = await (await service.client.files.content(file.file_id)).text();
      if (bytes !== `${honest}`) options.findings.add('wrong bytes', 'an honest file beside slow peers');
      await pause(100);
    }
    const grown = memoryOf(service.process.pid) - before;
    const probed = await health.stop();
    if (probed.silent > 0)
      options.findings.add('unavailable', `${probed.silent} health probes without an answer beside slow peers`);
    if (grown > mostMemory) options.findings.add('unavailable', `slow peers cost ${grown} MiB`);
    const closedByService = closed;
    if (!options.slice && closedByService < each * kinds.length * 0.8) {
      options.findings.add(
        'unavailable',
        `${each * kinds.length - closedByService} slow peers are open after ${seconds} s`,
      );
    }
    for (const socket of sockets) socket.destroy();
    await service.stop();
    return {
      name: 'Slow readers and writers',
      cases: sockets.length,
      figures: {
        ...{
          connections: sockets.length,
          'closed by the service': closedByService,
          'concurrent regular uploads': honest,
        },
        ...{ 'longest wait of a health probe (ms)': probed.longest, 'memory growth (MiB)': grown },
      },
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await endings.end();
  }
}
