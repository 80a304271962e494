import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createAdmission } from '../packages/server/src/platform/admission/admission.ts';
import { createNewId } from '../packages/server/src/platform/identifier.ts';
import { createLogger } from '../packages/server/src/platform/log/logger.ts';
import { createMetrics } from '../packages/server/src/platform/metrics.ts';
import type { Catalogue } from '../packages/server/src/tools/catalogue/catalogue.ts';
import { loadCatalogue } from '../packages/server/src/tools/catalogue/load/load-catalogue.ts';
import { createBroker } from '../packages/server/src/tools/egress/create-broker.ts';
import { createExecutor } from '../packages/server/src/tools/execution/create-executor.ts';
import type { PieceAction, PieceDescription } from '../packages/server/src/tools/execution/pieces/child/piece-task.ts';
import { credentialsOf, safeName } from '../packages/server/src/tools/execution/pieces/piece-schema.ts';
import type { Sandbox } from '../packages/server/src/tools/execution/sandbox/sandbox.ts';
import type { PiecePackage } from '../packages/server/src/tools/installation/piece-package.ts';
import { bundleIdOf, createReadPiece } from '../packages/server/src/tools/installation/read-piece.ts';
import { describePiece } from '../packages/server/src/tools/pieces/describe-piece.ts';
import { sampleAnswer, sampleInputs } from '../packages/server/src/tools/pieces/sample-inputs.ts';
import type { SentRequest } from './piece-verdicts.ts';

/** A piece that was read, tried in a dry run and loaded, as an installation does it. */
export interface LoadedPiece {
  readonly bundleId: string;
  readonly description: PieceDescription;
  readonly catalogue: Catalogue;
  readonly warnings: readonly string[];
}

export interface TriedAction {
  readonly id: string;
  readonly needsCredential: boolean;
  /** Whether it sent a request to a host of the bundle. The broker refuses others. */
  readonly isSent: boolean;
  /** Whether a request held the credential. The broker sends it only in a declared place. */
  readonly isHeld: boolean;
  /** How each attempt ended. */
  readonly outcomes: readonly string[];
  readonly requests: readonly SentRequest[];
}

const { signal } = new AbortController();
const logger = createLogger('silent');

export async function loadPiece(read: PiecePackage, sandbox: Sandbox, folder: string): Promise<LoadedPiece> {
  const { files, warnings } = await createReadPiece({ sandbox: async () => sandbox })(read, undefined, signal);
  const description = await describePiece(read.file, sandbox, signal);
  const bundleId = bundleIdOf(read.name);
  await mkdir(join(folder, bundleId), { recursive: true });
  for (const [name, content] of files) await writeFile(join(folder, bundleId, name), content);
  const capabilities = { handlers: 'sandbox' } as const;
  const catalogue = await loadCatalogue({ folders: [folder], capabilities, publicUrl: '', logger });
  return { bundleId, description, catalogue, warnings };
}

/** Executes each action with sample inputs, until an attempt sends what the action needs. One server stands in place of all hosts. */
export async function tryActions(piece: LoadedPiece, sandbox: Sandbox): Promise<TriedAction[]> {
  const { bundleId, catalogue, description } = piece;
  const accounts = accountsOf(piece);
  await using stub = await openStub();
  const hosts = catalogue.findBundle(bundleId)?.hosts ?? [];
  const origins = accounts.flatMap((account) => hosts.map((host) => originOf(host, account)));
  const overrides = new Map(origins.map((from) => [from, stub.origin]));
  const broker = createBroker({ overrides, allow: [], logger, version: '0.0.0', resolve: async () => [] });
  const send: typeof broker.send = (request, policy, stop) => {
    stub.expect(request.url);
    return broker.send(request, policy, stop);
  };
  const executor = createExecutor({
    ...{ admission: createAdmission(), broker: { ...broker, send }, sandbox, newId: createNewId(), logger },
    ...{ catalogue: () => catalogue, metrics: createMetrics() },
  });

  async function attempt(plugin_id: string, input: Record<string, unknown>, credentials: Record<string, string>) {
    const input_params = Object.fromEntries(Object.entries(input).map(([name, value]) => [safeName(name), value]));
    const call = { bundle_id: bundleId, plugin_id, input_params, credentials };
    try {
      const { outcome } = await executor.execute(call, AbortSignal.timeout(30_000));
      return 'message' in outcome ? `${outcome.kind}: ${outcome.message}` : outcome.kind;
    } catch (error) {
      return `not executed: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  async function tryAction(id: string, action: PieceAction): Promise<TriedAction> {
    const needsCredential = action.requireAuth && description.auth.length > 0;
    const outcomes: string[] = [];
    const requests: SentRequest[] = [];
    const isHeld = () => requests.some(holdsSecret);
    const isDone = () => (needsCredential ? isHeld() : requests.length > 0);
    for (const account of accounts) {
      for (const input of sampleInputs(action.props)) {
        if (isDone()) continue;
        stub.answer = JSON.stringify(sampleAnswer(action.output));
        outcomes.push(await attempt(id, input, account));
        requests.push(...stub.take().map((request) => ({ ...request, action: id })));
      }
    }
    return { id, needsCredential, isSent: requests.length > 0, isHeld: isHeld(), outcomes, requests };
  }

  const tried: TriedAction[] = [];
  for (const { id, manifest } of catalogue.findBundle(bundleId)?.plugins.values() ?? []) {
    const action = description.actions.find(({ name }) => name === manifest.piece?.action);
    if (action !== undefined) tried.push(await tryAction(id, action));
  }
  await broker.close();
  return tried;
}

/** With the 16 digits after it, a secret has the form of the ids of some services. */
const secretStart = 'ACfeedfacefeedface';

/** Credentials for each alternative of the authentication: random secrets, the first choice of others, and URLs where a host is one. */
function accountsOf({ bundleId, catalogue, description: { auth } }: LoadedPiece): Array<Record<string, string>> {
  const credentials = credentialsOf(auth);
  if (credentials === undefined) return [{}];
  const hosts = catalogue.findBundle(bundleId)?.hosts ?? [];
  const isSecret = (name: string) => Object(Object(credentials.schema.properties)[name])['x-secret'] === true;
  return credentials.forms.map(({ fields }, index) => {
    const values = Object.entries(fields).map(([name, type]) => {
      const { options, defaultValue } = auth[index]?.props.find((one) => one.name === name) ?? {};
      const text = defaultValue ?? (hosts.includes(`{${name}}`) ? `https://${label}.example.com` : label);
      const plain = options?.[0]?.value ?? { number: '1', boolean: 'true' }[String(type)] ?? text;
      return [name, isSecret(name) ? secretStart + randomBytes(8).toString('hex') : String(plain)];
    });
    return Object.fromEntries(values);
  });
}

const label = 'account';

function originOf(host: string, account: Readonly<Record<string, string>>): string {
  const filled = host.replaceAll(/\{([^}]+)\}/g, (_, name: string) => account[name] ?? label);
  return URL.parse(filled)?.origin ?? URL.parse(`https://${filled}`)?.origin ?? 'https://none.invalid';
}

function holdsSecret({ path, headers, body }: SentRequest): boolean {
  const decoded = Object.values(headers).map((value) => `${value} ${Buffer.from(value.slice(6), 'base64').toString()}`);
  return [path, body.toString(), ...decoded].some((text) => text.includes(secretStart));
}

async function openStub() {
  let urls: string[] = [];
  let arrived: SentRequest[] = [];
  const stub = { answer: '{}' };
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { method = '', url: path = '' } = request;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const host = URL.parse(urls[Math.min(arrived.length, urls.length - 1)] ?? '')?.host ?? '';
    arrived.push({ action: '', host, method, path, headers, body });
    response.writeHead(200, { 'content-type': 'application/json' }).end(stub.answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(stub, {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on TCP
    /** Tells the URL of the next request, which the piece named. */
    expect: (url: string) => urls.push(url),
    take: () => {
      const taken = arrived;
      [arrived, urls] = [[], []];
      return taken;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  });
}
