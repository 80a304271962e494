import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startService } from '../processes.ts';
import { type Contestant, type Effort, type Figures, hold, runProgram, startHost, versionOf } from './contest.ts';

const sizes = [
  { work: '4 KiB files', bytes: 4096, connections: [8], times: 1 },
  { work: '64 MiB files', bytes: 64 * 1024 ** 2, connections: [1], times: 3 },
];

/** Uploads whole files, each with other content, because the service stores equal content once. */
export async function contestUploads(folder: string, version: string, effort: Effort): Promise<Figures[]> {
  const service = await startService(join(folder, 'ours'), { QUARTERMASTER_LOG_LEVEL: 'warn' });
  const synced = await startHost('tus-host.mjs', [join(folder, 'synced'), 'sync']);
  const tus = await startHost('tus-host.mjs', [join(folder, 'tus')]);
  const peer = `@tus/server ${versionOf('@tus/server')}`;
  const Authorization = `Bearer ${service.key}`;
  const rows: Figures[] = [];
  for (const { work, bytes, connections, times } of sizes) {
    const [withSync, without] = ['tus-node-server, with fsync', 'tus-node-server, as it is: no fsync'];
    const contestants = [
      await uploader({ name: 'Quartermaster', version, pid: service.pid, bytes, Authorization }, async (content) => {
        const body = new FormData();
        body.append('purpose', 'record_file');
        body.append('file', new Blob([content]), 'bench.txt');
        const url = `${service.filesUrl}/v1/files`;
        const response = await fetch(url, { method: 'POST', headers: { Authorization }, body });
        const { data } = (await response.json()) as { data: { file_id: string } };
        return `${url}/${data.file_id}/content`;
      }),
      await uploader({ name: withSync, version: peer, pid: synced.pid, bytes }, (content) =>
        sendTus(synced.url, content),
      ),
      await uploader({ name: without, version: peer, pid: tus.pid, bytes }, (content) => sendTus(tus.url, content)),
      bytes > 1024 ** 2 ? disk(folder, bytes) : smallFiles(join(folder, 'floor'), bytes),
    ];
    const longer = { rounds: effort.rounds, seconds: effort.seconds * times };
    rows.push(...(await hold({ group: 'uploads', work, connections }, contestants, longer)));
  }
  for (const each of [service, synced, tus]) await each.stop();
  return rows;
}

/** Creates an upload and sends its bytes in one request. Returns its URL. */
async function sendTus(url: string, body: Buffer<ArrayBuffer>): Promise<string> {
  const type = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Metadata': 'filename YmVuY2gudHh0' };
  const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Length': String(body.length), ...type };
  const response = await fetch(`${url}/files`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.headers.get('location') ?? '';
}

interface Uploader extends Pick<Contestant, 'name' | 'version'> {
  readonly pid: number;
  readonly bytes: number;
  readonly Authorization?: string;
}

let stamp = 0;
async function uploader(
  { bytes, Authorization = '', ...about }: Uploader,
  send: (content: Buffer<ArrayBuffer>) => Promise<string>,
): Promise<Contestant> {
  const content = Buffer.alloc(bytes, 'The library is open from nine to five. ');
  const sendNext = () => {
    content.write(String(++stamp).padStart(12, '0'));
    return send(content);
  };
  const back = await fetch(await sendNext(), { headers: { Authorization } });
  assert.ok(content.equals(Buffer.from(await back.arrayBuffer())), `${about.name} returned other bytes`);
  return {
    ...about,
    checked: 'read back equal',
    open: () => ({ ask: async () => (await sendNext()) !== '', close() {} }),
  };
}

/** The floor of large files: the bytes and an fsync, without a network. */
function disk(folder: string, bytes: number): Contestant {
  const args = ['if=/dev/zero', `of=${join(folder, 'dd')}`, 'bs=1M', `count=${bytes / 1024 ** 2}`, 'conv=fsync'];
  const ask = async () => (await runProgram('dd', args)).length > 0;
  return { name: 'dd conv=fsync (floor)', version: 'coreutils', checked: '', open: () => ({ ask, close() {} }) };
}

/** The floor of small files: a new file, an fsync of it and of its folder, in this process. */
function smallFiles(folder: string, bytes: number): Contestant {
  mkdirSync(folder, { recursive: true });
  async function ask() {
    const file = await openFile(join(folder, String(++stamp)), 'wx');
    await file.write(Buffer.alloc(bytes, 'a'));
    await file.sync();
    await file.close();
    const directory = await openFile(folder);
    await directory.sync();
    await directory.close();
    return true;
  }
  const version = `Node.js ${process.versions.node}`;
  return { name: 'write and fsync (floor)', version, pid: 0, checked: '', open: () => ({ ask, close() {} }) };
}
