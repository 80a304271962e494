import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Ports } from './free-port.ts';
import { type Ending, temporaryFolder } from './service.ts';
import { requireTools, type ToolName, toolsNamed } from './system-tools.ts';

export type ProxyName = 'nginx' | 'caddy';

/**
 * Starts a reverse proxy with its sample of `deploy`, in which only names, ports and certificates are replaced.
 * @param ports where the proxy listens
 * @param upstream where the service listens
 */
export async function startProxy(t: Ending, name: ProxyName, ports: Ports, upstream: Ports): Promise<void> {
  const places = {
    nginx: [
      [/^ +ssl_certificate.*\n/gm, '', 4],
      [/listen 443 ssl;(\s+server_name quartermaster)/g, `listen 127.0.0.1:${ports.files};$1`, 1],
      [/listen 443 ssl;(\s+server_name plugins)/g, `listen 127.0.0.1:${ports.plugins};$1`, 1],
    ],
    caddy: [
      [/^quartermaster\.example\.com/gm, `http://127.0.0.1:${ports.files}`, 1],
      [/^plugins\.example\.com/gm, `http://127.0.0.1:${ports.plugins}`, 1],
    ],
  } as const;
  const file = { nginx: 'deploy/nginx.conf', caddy: 'deploy/Caddyfile' }[name];
  await start(t, name, replaceAll(await readFile(file, 'utf8'), [...portsOf(upstream), ...places[name]]));
}

/**
 * Starts a reverse proxy with its sample for one host name, which serves the addresses below `/quartermaster/` and
 * `/quartermaster-tools/`.
 * @param port where the proxy listens
 */
export async function startProxyWithPaths(t: Ending, name: ProxyName, port: number, upstream: Ports): Promise<void> {
  const places = {
    nginx: [
      [/^ +ssl_certificate.*\n/gm, '', 2],
      [/listen 443 ssl;/g, `listen 127.0.0.1:${port};`, 1],
    ],
    caddy: [[/^example\.com/gm, `http://127.0.0.1:${port}`, 1]],
  } as const;
  const file = { nginx: 'deploy/nginx-base-path.conf', caddy: 'deploy/Caddyfile.base-path' }[name];
  await start(t, name, replaceAll(await readFile(file, 'utf8'), [...portsOf(upstream), ...places[name]]));
}

async function start(t: Ending, name: ProxyName, sample: string): Promise<void> {
  requireTools(toolsNamed(name satisfies ToolName));
  const folder = await temporaryFolder(t);
  const { command, ready } = await (name === 'nginx' ? writeNginx : writeCaddy)(folder, sample);
  const [program = '', ...args] = command;
  const env = { PATH: process.env.PATH ?? '', HOME: folder };
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // The master process of nginx ends its workers after SIGTERM, not after SIGKILL.
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    if (!ready.test(line)) continue;
    child.stderr.resume();
    return;
  }
  throw new Error(`${name} did not start:\n${lines.join('\n')}`);
}

/** Writes a configuration with what the sample needs, and none of the machine. */
async function writeNginx(folder: string, sample: string) {
  const file = join(folder, 'nginx.conf');
  const own = [
    process.getuid?.() === 0 ? 'user root;' : '',
    `pid ${join(folder, 'pid')};\ndaemon off;\nerror_log stderr notice;\nevents {}`,
    `http {\n${temporaryPaths(folder)}\n${sample}\n}\n`,
  ];
  await writeFile(file, own.join('\n'));
  const command = ['/usr/sbin/nginx', '-e', 'stderr', '-p', folder, '-c', file];
  return { command, ready: /start worker processes/ };
}

function temporaryPaths(folder: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return ['access_log off;', ...kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`)].join('\n');
}

async function writeCaddy(folder: string, sample: string) {
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n${sample}`);
  const command = ['/usr/bin/caddy', 'run', '--adapter', 'caddyfile', '--config', file];
  return { command, ready: /serving initial configuration/ };
}

type Replacement = readonly [pattern: RegExp, text: string, count: number];

function portsOf({ files, plugins }: Ports): Replacement[] {
  return [
    [/127\.0\.0\.1:8080/g, `127.0.0.1:${files}`, 1],
    [/127\.0\.0\.1:8081/g, `127.0.0.1:${plugins}`, 1],
  ];
}

/** Replaces texts and asserts how often each occurs, so that a changed sample is noticed. */
function replaceAll(text: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((before, [pattern, replacement, count]) => {
    assert.equal(before.match(pattern)?.length, count, `${pattern}`);
    return before.replaceAll(pattern, replacement);
  }, text);
}
