import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Direction } from '../../test/support/tcp-proxy.ts';
import type { Endings } from '../support/endings.ts';

const run = promisify(execFile);

/** What a node reaches over a line of its own. */
export type Peer = 'database' | 'storage' | 'upstream';
const peers: readonly Peer[] = ['upstream', 'database', 'storage'];

/** Where a node runs. */
export interface Site {
  /** The address that the node listens on. */
  readonly address: string;
  /** The command that starts a program there. */
  readonly launcher: readonly string[];
  /** Returns the address of the rig at which the node reaches this peer. */
  addressOf(peer: Peer): string;
  /** Drops packets between the node and a peer. Missing on loopback, where a proxy must hold data back instead. */
  readonly drop?: (peer: Peer, direction: Direction) => Promise<void>;
  /** Ends what `drop` began. */
  mend(): Promise<void>;
}

/** All programs of the rig end with the process that started it, even if that is killed. */
const endsWithParent = ['setpriv', '--pdeathsig', 'KILL'];

/** A node on the loopback interface, for users who may not create network namespaces. */
export function loopbackSite(): Site {
  return {
    address: '127.0.0.1',
    launcher: endsWithParent,
    addressOf: () => '127.0.0.1',
    mend: async () => {},
  };
}

/**
 * Creates a network namespace for a node, with a pair of virtual Ethernet devices to this one. Everything belongs to the
 * namespace, so that its deletion removes all.
 * @param index the number of the node, from 1 to 15
 */
export async function createSite(index: number, endings: Endings): Promise<Site> {
  const name = `qm-${process.pid}-${index}`;
  const device = `qm${process.pid}n${index}`;
  // 198.18.0.0/15 is reserved for tests of networks. Each rig has a network of 256 addresses, and each node 16 of them.
  const network = `198.18.${process.pid % 256}`;
  const addressOf = (peer: Peer) => `${network}.${index * 16 + 1 + peers.indexOf(peer)}`;
  const address = `${network}.${index * 16 + 14}`;
  await run('ip', ['netns', 'add', name]);
  endings.after(() => run('ip', ['netns', 'delete', name]));
  const here = async (...args: string[]) => void (await run('ip', args));
  const there = (...args: string[]) => here('-netns', name, ...args);
  await here('link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  for (const peer of peers) await here('address', 'add', `${addressOf(peer)}/28`, 'dev', device);
  await here('link', 'set', device, 'up');
  await there('address', 'add', `${address}/28`, 'dev', 'eth0');
  for (const link of ['lo', 'eth0']) await there('link', 'set', link, 'up');
  // Rules that drop packets must come before the rule that delivers them.
  await there('rule', 'add', 'preference', '20', 'lookup', 'local');
  await there('rule', 'delete', 'preference', '0');
  const mends: Array<() => Promise<void>> = [];
  const change = async (kind: 'route' | 'rule', ...args: string[]) => {
    await there(kind, 'add', ...args);
    mends.push(() => there(kind, 'delete', ...args));
  };
  return {
    address,
    launcher: [...endsWithParent, 'ip', 'netns', 'exec', name],
    addressOf,
    async drop(peer, direction) {
      if (direction !== 'answers') await change('route', 'blackhole', `${addressOf(peer)}/32`);
      if (direction === 'requests') return;
      await change('rule', 'preference', '5', 'iif', 'eth0', 'from', addressOf(peer), 'blackhole');
    },
    async mend() {
      for (let mend = mends.pop(); mend !== undefined; mend = mends.pop()) await mend();
    },
  };
}

/** Whether this process may create network namespaces. Root of a container may not, unless that is privileged. */
export function mayCreateNamespaces(): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/sbin/ip')) return false;
  return spawnSync('unshare', ['--net', '--mount', 'true']).status === 0;
}

/** Deletes the namespaces of rigs whose process was killed. */
export async function deleteOldSites(): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'list']);
  for (const [name, pid] of stdout.matchAll(/^qm-(\d+)-\d+/gm)) {
    if (!existsSync(`/proc/${pid}`)) await run('ip', ['netns', 'delete', name]);
  }
}
