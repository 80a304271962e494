import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ports } from '../../test/support/free-port.ts';
import { requireTools, toolsNamed } from '../../test/support/system-tools.ts';
import type { Endings } from '../support/endings.ts';
import type { RigNode } from './rig.ts';

const mostNodes = 4;

/** Starts HAProxy with the configuration of `deploy/scale` on these ports of the loopback interface. */
export async function startBalancer(endings: Endings, nodes: readonly RigNode[], ports: Ports): Promise<void> {
  requireTools(toolsNamed('haproxy'));
  const addresses = Array.from({ length: mostNodes }, (_, index) => {
    // A node that is missing has an address at which nothing answers.
    const { target, serves = 'both' } = nodes[index] ?? {};
    const hostOf = (kind: 'files' | 'plugins', url = 'http://127.0.0.1:1') =>
      serves === 'both' || serves === kind ? new URL(url).host : '127.0.0.1:1';
    return [
      [`NODE${index + 1}_FILES`, hostOf('files', target?.filesUrl)],
      [`NODE${index + 1}_PLUGINS`, hostOf('plugins', target?.pluginsUrl)],
    ];
  });
  const [files, plugins] = [`127.0.0.1:${ports.files}`, `127.0.0.1:${ports.plugins}`];
  const env = { PROXY_FILES: files, PROXY_PLUGINS: plugins, ...Object.fromEntries(addresses.flat()) };
  const program = ['--pdeathsig', 'KILL', '/usr/sbin/haproxy', '-db', '-f', 'deploy/scale/haproxy.cfg'];
  const child = spawn('setpriv', program, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-2_000);
  });
  endings.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  for (const latest = performance.now() + 30_000; !(await answers(files)); await pause(100)) {
    if (child.exitCode !== null || performance.now() > latest) throw new Error(`HAProxy did not start: ${log}`);
  }
}

async function answers(host: string): Promise<boolean> {
  const answer = await fetch(`http://${host}/v1/ready`).catch(() => undefined);
  return answer?.status === 200;
}
