import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { TestContext } from 'node:test';
import { type EchoingUpstream, startEchoingUpstream } from './echoing-upstream.ts';
import { findFiles } from './find-files.ts';
import { createSecretFinder } from './find-secret.ts';
import { succeed } from './run-command.ts';
import { type Scheme, schemes, secretsOf, signingKey, writeSchemeBundles } from './scheme-bundles.ts';
import { type StartedService, startService, temporaryFolder } from './service.ts';

/**
 * A service with a bundle for each scheme and an echoing upstream, and a search through everything that it returns or
 * stores.
 */
export interface CanaryService {
  service: StartedService;
  readonly upstream: EchoingUpstream;
  /** Sends a request to the plugins address, or to a URL. The next search includes the response. */
  call(method: string, path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<Answered>;
  execute(scheme: Scheme, plugin: string, input: object, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Searches everything said since the last search. Returns the places with a credential. */
  look(): Promise<string[]>;
  /** Includes a secret in all later searches. */
  addSecret(secret: string): void;
  /** Searches the folders that the service writes to. */
  lookInFolders(): Promise<string[]>;
  /** Returns the places in which a non-secret text occurs: in output since the last search, and in the folders. */
  places(text: string): Promise<Record<'answers' | 'log' | 'folders', boolean>>;
  /** Starts another process on the same data. */
  restart(): Promise<void>;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export async function startCanaryService(t: TestContext): Promise<CanaryService> {
  const [bundles, folder, home] = [await temporaryFolder(t), await temporaryFolder(t), await temporaryFolder(t)];
  await writeSchemeBundles(bundles);
  const upstream = await startEchoingUpstream(t);
  const overrides = { 'https://api.example.com': upstream.origin, 'https://other.example.com': upstream.origin };
  const settings = {
    ...{ BUNDLES: bundles, EGRESS_OVERRIDES: JSON.stringify(overrides), ISOLATION: 'process', LOG_LEVEL: 'trace' },
    ...{ DATABASE_URL: '', SEALING_KEY: Buffer.alloc(32, 7).toString('base64') },
  };
  const start = () => startService(t, { folder, settings, launcher: ['/usr/bin/env', `TMPDIR=${home}`] });
  const finder = createSecretFinder([...schemes.flatMap(secretsOf), signingKey]);
  const search = (all: readonly Buffer[]): string[] => {
    for (const token of upstream.issued.slice(known)) finder.add(token);
    known = upstream.issued.length;
    const found = all.flatMap((bytes) => finder.find(bytes));
    return found.map(({ secret, form, context }) => `${secret}, ${form}: …${context}…`);
  };
  const outputs: Buffer[] = [];
  let known = 0;
  let logged = 0;
  const canary: CanaryService = {
    service: await start(),
    upstream,
    async call(method, path, body, headers = {}) {
      const { pluginsUrl, key } = canary.service;
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      // Uses a new connection for each request, because a search may last longer than the server keeps one open.
      const outgoing = request(path.startsWith('http') ? path : pluginsUrl + path, {
        method,
        agent: false,
        headers: { authorization: `Bearer ${key}`, ...type, ...headers },
      });
      outgoing.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      outputs.push(Buffer.from(`${answer.statusMessage} ${JSON.stringify(answer.rawHeaders)} ${text}`));
      return { status: answer.statusCode ?? 0, text };
    },
    execute: (scheme, plugin_id, input_params, headers) =>
      canary.call(
        'POST',
        '/v1/execute',
        { bundle_id: scheme.id, plugin_id, input_params, credentials: scheme.credentials },
        headers,
      ),
    async look() {
      for (const path of ['/metrics', '/v1/runs?limit=100', '/v1/health_check']) await canary.call('GET', path);
      outputs.push(Buffer.from(canary.service.log().slice(logged)));
      logged = canary.service.log().length;
      return search(outputs.splice(0));
    },
    addSecret: finder.add,
    async lookInFolders() {
      return search(await filesOf([folder, home]));
    },
    async places(text) {
      const log = canary.service.log().slice(logged);
      const files = await filesOf([folder, home]);
      return {
        answers: outputs.some((bytes) => bytes.includes(text)),
        log: log.includes(text),
        folders: files.some((bytes) => bytes.includes(text)),
      };
    },
    async restart() {
      await canary.service.kill();
      logged = 0;
      canary.service = await start();
    },
  };
  await keepInputs(folder);
  return canary;
}

/** Stores as much as possible in the records of runs, including inputs and messages. */
async function keepInputs(folder: string): Promise<void> {
  // The line below the column headings.
  const [, line = ''] = (await succeed({ folder }, 'project', 'list')).split('\n');
  await succeed({ folder }, 'project', 'inputs', line.split(' ')[0] ?? '', 'keep');
}

async function filesOf(folders: readonly string[]): Promise<Buffer[]> {
  const paths = (await Promise.all(folders.map((folder) => findFiles(folder)))).flat();
  return await Promise.all(paths.map((path) => readFile(path)));
}
