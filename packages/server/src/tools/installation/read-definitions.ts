import { Worker } from 'node:worker_threads';
import { type BundlePlanRequest, mostDocumentBytes, type PackageFacts } from '@quartermaster/contract';
import type { Recipe } from '@quartermaster/importers/recipes';
import { askThread } from '../../platform/concurrency/ask-thread.ts';
import type { Outbound, OutboundPolicy } from '../../platform/outbound.ts';
import { moduleUrl } from '../../platform/server-process/module-path.ts';
import { readMcpServer } from '../execution/remote-tools/read-server.ts';
import type { ImportAnswer, ImportRequest } from './import-thread.ts';
import { integrityOf } from './piece-package.ts';
import { definitionsFailed, importRefused } from './problems.ts';

type Source = BundlePlanRequest['source'];

/** The bundle that an OpenAPI document or the tools of an MCP server were converted to. */
export interface Definitions {
  readonly source: PackageFacts['source'];
  /** Those of its archive. */
  readonly bytes: Buffer;
  readonly integrity: string;
  /** What only the same API or server has: its host, or its URL. */
  readonly name: string;
  readonly licence: string | null;
  readonly warnings: string[];
}

/** @throws Problem when they cannot be fetched or converted */
export type ReadDefinitions = (
  source: Extract<Source, { kind: 'openapi' | 'mcp' }>,
  bundleId: string | undefined,
  signal: AbortSignal,
) => Promise<Definitions>;

/** The limits of the thread that converts. A document of 10 MiB in YAML takes most of this memory. */
export interface ImportLimits {
  readonly heapMb: number;
  readonly timeMs: number;
}
const defaultLimits: ImportLimits = { heapMb: 1024, timeMs: 60_000 };

/** Fetches through the broker. Converts in a thread, because documents are hostile input and large ones take seconds. */
export function createReadDefinitions(outbound: Outbound, limits: ImportLimits = defaultLimits): ReadDefinitions {
  async function readApi(source: ApiSource, id: string | undefined, signal: AbortSignal): Promise<Definitions> {
    const { content, ...remembered } = source;
    const recipe = source.recipe === undefined ? undefined : await readOwnRecipe(source.recipe);
    const isNamed = content !== undefined || source.url !== undefined || recipe === undefined;
    const named = isNamed ? source : { ...source, url: recipe.document.url };
    const text = await readDocument(named, outbound, signal);
    const { server, operations, tags, paths } = source;
    const options = { id, server, address: named.url, operations, tags, paths };
    const integrity = integrityOf(Buffer.from(text));
    const converted = await convert({ kind: 'openapi', text, recipe, options }, limits, signal);
    return { ...converted, integrity, source: content === undefined ? remembered : null };
  }

  async function readServer(wanted: ServerSource, id: string | undefined, signal: AbortSignal): Promise<Definitions> {
    const { credentials = {}, ...source } = wanted;
    const { url, bearer, headers, operations } = source;
    const { accessOf } = await import('@quartermaster/importers/mcp-server');
    const access = accessOf(bearer, headers);
    const snapshot = await readMcpServer({ url, inject: access.inject, credentials }, outbound, signal).catch(
      (error) => {
        signal.throwIfAborted();
        throw definitionsFailed(error);
      },
    );
    const choices = { id, ...(operations === undefined ? {} : { operations }) };
    const integrity = integrityOf(Buffer.from(JSON.stringify(snapshot.tools)));
    const converted = await convert({ kind: 'mcp', snapshot, choices, access }, limits, signal);
    return { ...converted, integrity, name: url, source };
  }

  return async (source, id, signal) => {
    if (source.kind === 'mcp') return await readServer(source, id, signal);
    const { url, recipe, server, operations } = source;
    const api = () => readApi(source, id, signal);
    if (url === undefined || server !== undefined || recipe !== undefined) return await api();
    const wanted = { kind: 'mcp' as const, url, ...(operations === undefined ? {} : { operations }) };
    // A server may answer GET with a stream that does not end, so the usual names are tried first.
    const isNamed = /\/(mcp|sse)\/?$/.test(URL.parse(url)?.pathname ?? '');
    const tries = [api, () => readServer(wanted, id, signal)] as const;
    const [first, second] = isNamed ? ([tries[1], tries[0]] as const) : tries;
    return await first().catch((error) =>
      second().catch(() => {
        signal.throwIfAborted();
        throw error;
      }),
    );
  };
}

async function readOwnRecipe(name: string): Promise<Recipe> {
  const { readRecipe } = await import('@quartermaster/importers/recipes');
  try {
    return readRecipe(name);
  } catch (error) {
    throw importRefused(error instanceof Error ? error.message : String(error));
  }
}

type ApiSource = Extract<Source, { kind: 'openapi' }>;
type ServerSource = Extract<Source, { kind: 'mcp' }>;

async function readDocument({ content, url }: ApiSource, outbound: Outbound, signal: AbortSignal): Promise<string> {
  if ((content === undefined) === (url === undefined)) throw importRefused('send either "content" or "url"');
  const text = content ?? (await fetchDocument(url ?? '', outbound, signal));
  if (Buffer.byteLength(text) > mostDocumentBytes)
    throw importRefused(`it must have at most ${mostDocumentBytes} bytes`);
  return text;
}

async function fetchDocument(url: string, outbound: Outbound, signal: AbortSignal): Promise<string> {
  const policy: OutboundPolicy = {
    hosts: 'any',
    hostsBy: 'operator',
    schemes: new Set(['https', 'http']),
    credentials: new Map(),
    inject: [],
    maxResponseBytes: mostDocumentBytes,
    maxRedirects: 3,
    timeoutMs: 60_000,
  };
  const headers = { accept: 'application/json, application/yaml, text/yaml, */*;q=0.1' };
  const result = await outbound.send({ method: 'GET', url, headers }, policy, signal);
  if (result.kind !== 'response')
    throw definitionsFailed('message' in result ? result.message : result.kind.replaceAll('_', ' '));
  if (result.status !== 200) throw definitionsFailed(`the server answered with status ${result.status}`);
  return result.body.toString('utf8');
}

async function convert(request: ImportRequest, { heapMb, timeMs }: ImportLimits, signal: AbortSignal) {
  const thread = new Worker(moduleUrl(import.meta, './import-thread'), {
    name: 'import',
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  const limit = AbortSignal.timeout(timeMs);
  try {
    const answer = await askThread<ImportAnswer>(thread, request, AbortSignal.any([signal, limit]));
    if ('reason' in answer) throw importRefused(answer.reason);
    return { ...answer, bytes: Buffer.from(answer.bytes) };
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) throw importRefused(`converting it takes longer than ${timeMs / 1000} s`);
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw importRefused(`converting it takes more than ${heapMb} MiB of memory`);
    throw error;
  } finally {
    await thread.terminate();
  }
}
