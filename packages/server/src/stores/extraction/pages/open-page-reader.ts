import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Owner } from '../../../platform/admission/owner.ts';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import { onceRetried } from '../../../platform/concurrency/once.ts';
import { Counter, type Registry } from '../../../platform/metrics.ts';
import { frameKinds } from '../../../platform/processes/frames.ts';
import type { SpawnSettings } from '../../../platform/processes/isolation/spawn-isolated.ts';
import { superviseProcess } from '../../../platform/processes/supervised-process.ts';
import { watchMemory } from '../../../platform/processes/usage-watch.ts';
import { modulePath } from '../../../platform/server-process/module-path.ts';
import { checkPageAnswer, type PageAnswer, type PageJob, pageLimits } from '../page-protocol.ts';
import { findReaderIsolation } from '../worker/reader-isolation.ts';
import { spawnReader } from '../worker/spawn-reader.ts';

export type PageResult =
  | (Exclude<PageAnswer, { kind: 'read' }> | (PageAnswer & { readonly kind: 'read'; readonly png: Buffer | null }))
  /** Too many requests wait, or the caller is gone. */
  | { readonly kind: 'busy' }
  /** The package that draws is not installed. */
  | { readonly kind: 'missing'; readonly renderer: string };

/** Finds and draws passages of PDF documents and pictures. Source: ADR 0150. */
export interface PageReader {
  /** Rejects only when the source does, or when the process cannot be started. */
  read(request: PageRequest, signal: AbortSignal): Promise<PageResult>;
}

export interface PageRequest {
  readonly owner: Owner;
  readonly job: PageJob;
  /** The digest of the document. */
  readonly content: string;
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface PageReaderOptions extends Pick<CommonDeps, 'admission' | 'logger'> {
  /** The memory of a process, in MiB. */
  readonly memoryMb: number;
  /** Default: the best that this machine offers, determined with the first request. */
  readonly isolation?: () => Promise<SpawnSettings>;
  /** The time limit of one request. Default: `pageLimits.seconds`. */
  readonly timeoutMs?: number;
  /** The package that draws. */
  readonly renderer?: string;
  /** Called with each result. */
  readonly onResult?: (kind: PageResult['kind']) => void;
}

const program = realpathSync(modulePath(import.meta, './child'));
const pieceBytes = 2 ** 18;

/**
 * Each request gets a process of its own, so that no document can affect another. Requests of projects and keys run in turn,
 * because one page may take the whole time limit. A page that exceeded the time limit is refused for a while, so that
 * repeated requests do not draw it again.
 */
export function openPageReader(options: PageReaderOptions): PageReader {
  const { logger, renderer = '@hyzyla/pdfium' } = options;
  const isolation = options.isolation ?? onceRetried(() => findReaderIsolation(logger));
  const queue = options.admission.queue('page_pictures');
  const slowPages = createSlowPages();

  async function read(request: PageRequest, signal: AbortSignal): Promise<PageResult> {
    if (!isInstalled(renderer)) return { kind: 'missing', renderer };
    const settings = await isolation();
    const page = pageOf(request);
    const draw = async () => {
      const failure = slowPages.find(page);
      if (failure !== undefined) return failure;
      const onTimeout = (late: PageResult) => slowPages.add(page, late);
      return await converse(request, { ...options, settings, signal, onTimeout });
    };
    return (await queue.tryRun(request.owner, draw, { signal })) ?? { kind: 'busy' };
  }
  return {
    read: async (request, signal) => {
      const result = await read(request, signal);
      options.onResult?.(result.kind);
      return result;
    },
  };
}

/** Milliseconds for which a page that exceeded the time limit is not drawn again. */
const slowPageMs = 60_000;
const mostSlowPages = 1_000;

/** Remembers pages that exceeded the time limit. The width of a picture does not distinguish them. */
function createSlowPages() {
  const failures = new Map<string, { readonly result: PageResult; readonly until: number }>();
  return {
    find(page: string): PageResult | undefined {
      const known = failures.get(page);
      if (known === undefined || performance.now() < known.until) return known?.result;
      failures.delete(page);
      return undefined;
    },
    add(page: string, result: PageResult): void {
      const [oldest] = failures.keys();
      if (failures.size >= mostSlowPages && oldest !== undefined) failures.delete(oldest);
      failures.set(page, { result, until: performance.now() + slowPageMs });
    },
  };
}

/** A picture is of one page; boxes are searched on several. */
function pageOf({ content, job: { first, last, picture } }: PageRequest): string {
  return [content, picture?.page ?? `${first}-${last}`].join(' ');
}

function isInstalled(library: string): boolean {
  const folders = createRequire(import.meta.url).resolve.paths(library) ?? [];
  return folders.some((folder) => existsSync(join(folder, library)));
}

interface Conversation extends PageReaderOptions {
  readonly settings: SpawnSettings;
  readonly onTimeout: (result: PageResult) => void;
  readonly signal: AbortSignal;
}

async function converse({ job, open }: PageRequest, options: Conversation): Promise<PageResult> {
  const { memoryMb, settings, signal, onTimeout, logger, timeoutMs = pageLimits.seconds * 1000 } = options;
  const answer = Promise.withResolvers<PageResult>();
  const over = new AbortController();
  let read: (PageAnswer & { kind: 'read' }) | undefined;
  const fail = (message: string) => answer.resolve({ kind: 'failed', message });

  function receive(kind: number, content: Buffer): void {
    if (kind === frameKinds.bytes) {
      if (read === undefined || job.picture === null || !isPng(content)) throw new TypeError('not a picture');
      // A copy, because the content shares memory with what is read next.
      answer.resolve({ ...read, png: Buffer.from(content) });
      return;
    }
    const message = checkPageAnswer(JSON.parse(content.toString()));
    if (message.kind !== 'read') answer.resolve(message);
    else if (job.picture === null) answer.resolve({ ...message, png: null });
    else read = message;
  }

  const plan = { memoryMb, cpuSeconds: Math.ceil(timeoutMs / 1000) + 1, program };
  const child = superviseProcess(spawnReader(plan, settings), {
    maxFrameBytes: () => pageLimits.pngBytes,
    onFrameTooLong: () => fail('The picture of the page is too large.'),
    onFrame: (kind, content) => {
      try {
        receive(kind, content);
      } catch (cause) {
        logger.error({ cause: String(cause) }, 'page reader sent an invalid message');
        fail('The page could not be read.');
      }
    },
  });
  const timer = setTimeout(() => {
    const message = `Reading the page exceeded the time limit of ${timeoutMs / 1000} s.`;
    onTimeout({ kind: 'failed', message });
    fail(message);
  }, timeoutMs);
  const unwatch = watchMemory(child.pid, memoryMb, () => fail('Reading the page exceeded the memory limit.'));
  const leave = () => answer.resolve({ kind: 'busy' });
  signal.addEventListener('abort', leave, { once: true });
  void child.exited.then(({ wasReady, printed, code, signal: ended }) => {
    if (!wasReady) answer.reject(new Error(`a process that reads pages did not start (${ended ?? code}): ${printed}`));
    else if (printed !== '') logger.warn({ stderr: printed, code, signal: ended }, 'page reader exited');
    fail('The page could not be read.');
  });

  async function feed(): Promise<void> {
    child.send(frameKinds.message, JSON.stringify(job));
    for await (const bytes of open()) {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        if (!child.send(frameKinds.bytes, bytes.subarray(at, at + pieceBytes))) await child.drained(over.signal);
        if (over.signal.aborted) return;
      }
    }
    child.send(frameKinds.bytes, '');
  }

  feed().catch(answer.reject);
  try {
    return await answer.promise;
  } finally {
    over.abort();
    clearTimeout(timer);
    unwatch();
    signal.removeEventListener('abort', leave);
    child.kill();
    await child.exited;
  }
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');

function isPng(content: Buffer): boolean {
  return content.subarray(0, pngSignature.length).equals(pngSignature);
}

/** Counts the requests for passages on pages. */
export function createPageMetrics(registry: Registry): (kind: PageResult['kind']) => void {
  const results = new Counter({
    name: 'quartermaster_pages_read_total',
    help: 'Requests for boxes or pictures of pages, by result: `read`, `no_page`, `failed`, `busy` or `missing`.',
    labelNames: ['result'] as const,
    registers: [registry],
  });
  return (result) => results.inc({ result });
}
