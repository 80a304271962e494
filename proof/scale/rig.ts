import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../test/support/free-port.ts';
import { type StartedService, startService } from '../../test/support/service.ts';
import { type Direction, startTcpProxy, type TcpProxy } from '../../test/support/tcp-proxy.ts';
import type { Target } from '../history/send-request.ts';
import type { Endings } from '../support/endings.ts';
import { type Pair, startPair } from './database.ts';
import { createSite, deleteOldSites, loopbackSite, mayCreateNamespaces, type Peer, type Site } from './network.ts';

/** The value of `QUARTERMASTER_SERVE` of a node. */
export type Serves = 'both' | 'files' | 'plugins';

export interface RigOptions {
  /** Everything that the nodes write. It is not removed. */
  readonly folder: string;
  /** What each node serves. */
  readonly serves: readonly Serves[];
  /** Where the content is: `AWS_…` variables, and `QUARTERMASTER_BLOBS` without its prefix. */
  readonly storage: Readonly<Record<string, string>>;
  /** The URL of a service that all nodes reach, for the setting `EGRESS_OVERRIDES`. */
  readonly upstream?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether the nodes share this network namespace. Default: each has its own, if this process may create namespaces. */
  readonly loopback?: boolean;
  /** Returns the words that start a node, such as `env LD_PRELOAD=…`. */
  readonly launcher?: (node: number) => readonly string[];
}

/** Several nodes on one database and one object storage. */
export interface Rig {
  readonly nodes: readonly RigNode[];
  readonly database: Pair;
  /** The first key of the store. */
  readonly key: string;
  readonly hasNamespaces: boolean;
  /** Settings of a command, such as `fsck`, that reaches the store without the lines of the nodes. */
  readonly commandSettings: () => Readonly<Record<string, string>>;
}

export interface RigNode {
  readonly name: string;
  readonly serves: Serves;
  readonly target: Target;
  readonly folder: string;
  /** The lines to its peers. */
  readonly lines: Readonly<Record<Peer, TcpProxy>>;
  service(): StartedService;
  start(): Promise<void>;
  /** Lets nothing pass between the node and a peer, in these directions. */
  partition(peer: Peer, direction: Direction): Promise<void>;
  mend(): Promise<void>;
}

/** Starts the database, the lines and the nodes. All of them end with `endings`. */
export async function openRig(endings: Endings, options: RigOptions): Promise<Rig> {
  const hasNamespaces = options.loopback !== true && mayCreateNamespaces();
  if (hasNamespaces) await deleteOldSites();
  const lines: TcpProxy[] = [];
  const database = await startPair(endings, (url) => {
    for (const line of lines) line.leadTo(url);
  });
  const shared = {
    SEALING_KEY: randomBytes(32).toString('base64'),
    PLUGINS_KEY: 'required',
    DATABASE_DURABILITY: 'standby',
    ...options.settings,
  };
  const nodes: RigNode[] = [];
  let key: string | undefined;
  for (const [index, serves] of options.serves.entries()) {
    const site = hasNamespaces ? await createSite(index + 1, endings) : loopbackSite();
    nodes.push(await createNode(endings, { ...options, site, index, serves, shared, database, key: () => key }));
    lines.push(nodes[index]!.lines.database); // just added
  }
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error('A rig has at least one node.');
  // The first node creates the store and its first key.
  await first.start();
  key = first.service().key;
  await Promise.all(others.map((node) => node.start()));
  const commandSettings = () => ({ ...shared, ...blobsOf(options), DATABASE_URL: database.url() });
  return { nodes, database, key, hasNamespaces, commandSettings };
}

const blobsOf = ({ storage }: Pick<RigOptions, 'storage'>) => ({ BLOBS: storage.QUARTERMASTER_BLOBS ?? '' });

interface NodeOptions extends Omit<RigOptions, 'serves'> {
  readonly site: Site;
  readonly index: number;
  readonly serves: Serves;
  readonly shared: Readonly<Record<string, string>>;
  readonly database: Pair;
  readonly key: () => string | undefined;
}

async function createNode(endings: Endings, options: NodeOptions): Promise<RigNode> {
  const { site, index, serves, storage, shared, database } = options;
  const name = `node${index + 1}`;
  const folder = join(options.folder, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const open = async (peer: Peer, url: string) => {
    const line = await startTcpProxy(url, site.addressOf(peer));
    endings.after(line.close);
    return line;
  };
  const { AWS_ENDPOINT_URL: endpoint = '', QUARTERMASTER_BLOBS: _, ...credentials } = storage;
  const upstream = options.upstream ?? endpoint;
  const lines = {
    database: await open('database', database.url()),
    storage: await open('storage', endpoint),
    upstream: await open('upstream', upstream),
  };
  const [filesPort, pluginsPort] = [await findFreePort(), await findFreePort()];
  const settings = {
    ...shared,
    ...blobsOf(options),
    SERVE: serves,
    HOST: site.address,
    FILES_PORT: String(filesPort),
    PLUGINS_PORT: String(pluginsPort),
    DATABASE_URL: lines.database.url(database.url()),
    EGRESS_OVERRIDES: JSON.stringify({ 'https://api.example.com': new URL(lines.upstream.url(upstream)).origin }),
    EGRESS_ALLOW: site.addressOf('upstream'),
  };
  const variables = { ...credentials, AWS_ENDPOINT_URL: new URL(lines.storage.url(endpoint)).origin };
  const launcher = [...site.launcher, ...(options.launcher?.(index) ?? ['env'])];
  launcher.push(...Object.entries(variables).map(([variable, value]) => `${variable}=${value}`));
  let running: StartedService | undefined;
  const target = {
    filesUrl: `http://${site.address}:${filesPort}`,
    pluginsUrl: `http://${site.address}:${pluginsPort}`,
    get key() {
      return options.key() ?? running?.key ?? '';
    },
  };
  return {
    ...{ name, serves, folder, lines, target },
    service: () => running ?? fail(`${name} has not started.`),
    async start() {
      const key = options.key();
      const service = await startService(endings, {
        folder,
        settings,
        launcher,
        ...(key === undefined ? {} : { key }),
      });
      writeFileSync(join(folder, 'pid'), String(service.process.pid));
      running = service;
    },
    async partition(peer, direction) {
      if (site.drop === undefined) lines[peer].silence(direction);
      else await site.drop(peer, direction);
    },
    async mend() {
      await site.mend();
      for (const line of Object.values(lines)) line.resume();
    },
  };
}

function fail(message: string): never {
  throw new Error(message);
}
