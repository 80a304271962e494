import { Worker } from 'node:worker_threads';
import { type BundlePlanRequest, mostDocumentBytes } from '@quartermaster/contract';
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
const defaultLimits: ImportLimits = { heapMb: 1024, timeMs: 180_000 };

/** Fetches through the broker. Converts in a thread, because documents are hostile input and large ones take seconds. */
export function createReadDefinitions(outbound: Outbound, limits: ImportLimits = defaultLimits): ReadDefinitions {
  return async (source, id, signal) => {
    const { operations } = source;
    if (source.kind === 'openapi') {
      const text = await readDocument(source, outbound, signal);
      const options = { id, server: source.server, operations };
      const integrity = integrityOf(Buffer.from(text));
      return { ...(await convert({ kind: 'openapi', text, options }, limits, signal)), integrity };
    }
    const { url, bearer, headers, credentials = {} } = source;
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
    return { ...(await convert({ kind: 'mcp', snapshot, choices, access }, limits, signal)), integrity, name: url };
  };
}

async function readDocument(
  { content, url }: Extract<Source, { kind: 'openapi' }>,
  outbound: Outbound,
  signal: AbortSignal,
): Promise<string> {
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
