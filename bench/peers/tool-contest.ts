import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { freePort, start, startService } from '../processes.ts';
import { type Contestant, type Effort, type Figures, hold, packageFile, startHost, versionOf } from './contest.ts';

const server = join(import.meta.dirname, 'hosts/mcp-host.mjs');
/** The gateways start the server over stdio and serve it over HTTP. */
const gateways: Readonly<Record<string, (port: string) => readonly string[]>> = {
  supergateway: (port) => [
    ...[packageFile('supergateway/dist/index.js'), '--stdio', `node ${server}`, '--port', port],
    ...['--outputTransport', 'streamableHttp', '--stateful'],
  ],
  'mcp-proxy': (port) => [
    ...[packageFile('mcp-proxy/dist/bin/mcp-proxy.mjs'), '--host', '127.0.0.1', '--port', port, '--server', 'stream'],
    ...['--', 'node', server],
  ],
};

/** Calls a tool that adds two numbers, with the same client of MCP. */
export async function contestTools(folder: string, version: string, effort: Effort): Promise<Figures[]> {
  const service = await startService(join(folder, 'ours'), { QUARTERMASTER_LOG_LEVEL: 'warn' });
  const direct = await startHost('mcp-host.mjs', ['http']);
  const tool = 'arithmetic__add';
  const url = `${service.pluginsUrl}/mcp?bundles=arithmetic`;
  const running = [service, direct];
  const contestants = [await caller({ name: 'Quartermaster', version, pid: service.pid, url, tool })];
  for (const [name, args] of Object.entries(gateways)) {
    const port = await freePort();
    const { pid, urls, stop } = await start(args(port), 0, { log: join(folder, `${name}.log`) });
    running.push({ ...direct, pid, urls, stop });
    contestants.push(await caller({ name, version: versionOf(name), pid, url: `http://127.0.0.1:${port}/mcp` }));
  }
  const sdk = `@modelcontextprotocol/sdk ${versionOf('@modelcontextprotocol/sdk')}`;
  contestants.push(await caller({ ...direct, name: 'no gateway: a server over HTTP', version: sdk }));
  const rows = await hold({ group: 'tools', work: 'a tool call', connections: [1, 8] }, contestants, effort);
  for (const each of running) await each.stop();
  return rows;
}

interface Caller extends Pick<Contestant, 'name' | 'version'> {
  readonly pid: number;
  readonly url: string;
  readonly tool?: string;
}

async function caller({ name, version, pid, url, tool = 'add' }: Caller): Promise<Contestant> {
  const params = { name: tool, arguments: { number_1: 1, number_2: 2 } };
  async function open() {
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const call = async () => (await client.callTool(params)).structuredContent as { result?: number } | undefined;
    return { ask: async () => (await call())?.result === 3, close: () => void client.close() };
  }
  // A gateway says in its own words, or not at all, when it listens.
  for (let left = 50; ; left--) {
    try {
      const connection = await open();
      assert.ok(await connection.ask());
      connection.close();
      return { name, version, pid, checked: '1 + 2 = 3', open };
    } catch (error) {
      if (left === 0) throw error;
      await pause(200);
    }
  }
}
