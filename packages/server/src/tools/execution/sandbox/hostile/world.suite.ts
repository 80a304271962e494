import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSocketServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { HostileInput } from './hostile-case.suite.ts';

/** Traps around the sandbox. A handler must not reach them, and they record every access. */
export interface World extends AsyncDisposable {
  readonly input: HostileInput;
  /** Returns the number of connections, datagrams and files since the last call. */
  takeTraces(): number;
}

const sandboxFolder = join(import.meta.dirname, '..');

/** Every user can read `folder`, like the bundles in it. */
export async function openWorld(folder: string): Promise<World> {
  const commons = join(folder, 'commons');
  await mkdir(commons);
  await chmod(commons, 0o777);
  await mkdir(join(folder, 'neighbour'), { recursive: true });
  const neighbourFile = join(folder, 'neighbour', 'canary.json');
  const canaryFile = join(folder, 'canary.txt');
  await writeFile(neighbourFile, '{"canary":true}');
  await writeFile(canaryFile, 'canary');
  let traces = 0;
  const http = createServer((_request, response) => response.end('well')).on('connection', () => traces++);
  const sockets = [`\0${folder}`, join(folder, 'socket')] as const;
  const notice = (it: Socket): void => {
    traces += 1;
    it.on('error', () => {}).end();
  };
  const servers = sockets.map((path) => createSocketServer(notice).listen(path));
  const udp = createSocket('udp4').on('message', () => traces++);
  udp.bind(0, '127.0.0.1');
  http.listen(0, '127.0.0.1');
  await Promise.all([...servers, http, udp].map((it) => once(it, 'listening')));
  await chmod(sockets[1], 0o777);
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  return {
    input: {
      ...{ neighbourFile, canaryFile, commons, tcp: address.port, udp: udp.address().port },
      ...{ abstract: sockets[0], socketFile: sockets[1], serverPid: process.pid, nodeFile: process.execPath },
      serverFile: join(sandboxFolder, 'open-sandbox.ts'),
      runtimeFile: join(sandboxFolder, 'child.ts'),
    },
    takeTraces: () => {
      const files = readdirSync(commons);
      for (const name of files) rmSync(join(commons, name), { recursive: true });
      const seen = traces + files.length;
      traces = 0;
      return seen;
    },
    [Symbol.asyncDispose]: async () => {
      udp.close();
      http.closeAllConnections();
      for (const it of [http, ...servers]) it.close();
      await Promise.all([http, ...servers].map((it) => once(it, 'close')));
    },
  };
}
