import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RetryPolicy, retryDelayMs } from '../../../../platform/concurrency/retry-delay.ts';
import type { Logger } from '../../../../platform/log/logger.ts';
import { findIsolation } from '../../../../platform/processes/isolation/find-isolation.ts';
import { OperatorError } from '../../../../platform/server-process/operator-error.ts';
import { type Embedder, EmbedderUnavailable } from '../embedder.ts';
import { normalise } from '../vectors.ts';
import { readModelFolder } from './model-folder.ts';
import { type EmbedRequest, type OnnxProcess, startOnnxProcess } from './onnx-process.ts';

export interface OnnxEmbedderOptions {
  readonly folder: string;
  /** Keeps the first dimensions of a vector, which only some models support. With null, all dimensions are kept. */
  readonly dimensions: number | null;
  readonly threads: number;
  readonly memoryMb: number;
  /** The time limit without a message from a busy process, in milliseconds. */
  readonly timeoutMs: number;
  readonly batchSize: number;
  readonly logger: Logger;
  /** Called when a process was started or restarted. */
  readonly onStart?: (pid: number) => void;
  /** The `package.json` next to which the runtime is installed. */
  readonly runtime?: string;
}

/** With two calls, the process has its next batch before the current one is finished. */
const lanes = 2;
const startTimeoutMs = 120_000;
const restarts: RetryPolicy = { firstMs: 1_000, longestMs: 60_000 };

/**
 * A model of a local folder, in a process that is restarted when it ends, after a longer pause each time it ends
 * without having computed a vector. @throws OperatorError for the operator when folder, runtime or model cannot be
 * used.
 */
export async function openOnnxEmbedder(options: OnnxEmbedderOptions): Promise<Embedder> {
  const { folder, logger, dimensions: wanted, runtime = runtimeManifest } = options;
  await checkRuntime(runtime);
  const { model, queryPrefix, documentPrefix } = await readModelFolder(folder);
  const { machine } = await findIsolation();
  const start = () => {
    const process = startOnnxProcess({
      start: { type: 'start', runtime, model, threads: options.threads },
      startTimeoutMs,
      timeoutMs: options.timeoutMs,
      memoryMb: options.memoryMb,
      machine,
    });
    options.onStart?.(process.pid);
    logger.info({ pid: process.pid }, 'embedding model process started');
    return process;
  };
  const first = start();
  const facts = await first.ready.catch((error: Error) => {
    throw new OperatorError(`The model in ${folder} cannot be used: ${error.message}`, { cause: error });
  });
  const dimensions = wanted ?? facts.dimensions;
  if (dimensions > facts.dimensions) {
    await first.close();
    throw new OperatorError(
      `QUARTERMASTER_EMBEDDING_DIMENSIONS is ${dimensions}, but the model in ${folder} has ${facts.dimensions}.`,
    );
  }
  const { pooling, maxTokens: max_tokens } = model;
  const loaded = { folder, dimensions: facts.dimensions, fingerprint: facts.fingerprint, pooling, max_tokens };
  logger.info(loaded, 'embedding model loaded');
  const processes = keepRunning({ first, start, fingerprint: facts.fingerprint, logger });
  const finish = (vector: Float32Array) =>
    dimensions === vector.length ? vector : normalise(vector.slice(0, dimensions));

  return {
    model: `onnx:${basename(resolve(folder))}:${facts.fingerprint}:${dimensions}`,
    batchSize: options.batchSize,
    lanes,
    async embed(texts, signal) {
      const request = { texts: texts.map((text) => documentPrefix + text), urgent: false };
      const vectors = await processes.embed(request, signal);
      return vectors.map((vector) =>
        vector === null ? { reason: 'The local model returned no vector.', isRefused: true } : finish(vector),
      );
    },
    async embedQuestion(text, signal) {
      const [vector] = await processes.embed({ texts: [queryPrefix + text], urgent: true }, signal);
      if (vector === undefined || vector === null) {
        throw new EmbedderUnavailable('The local model returned no vector for the query.');
      }
      return finish(vector);
    },
    close: () => processes.close(),
  };
}

interface ProcessOptions {
  readonly first: OnnxProcess;
  readonly start: () => OnnxProcess;
  readonly fingerprint: string;
  readonly logger: Logger;
}

function keepRunning({ first, start, fingerprint, logger }: ProcessOptions) {
  let current = first;
  let failures = 0;
  let restUntil = 0;
  let closed = false;

  /** Returns the running process, or starts one. @throws EmbedderUnavailable. */
  async function find(): Promise<OnnxProcess> {
    if (closed) throw new EmbedderUnavailable('The embedder is closed.');
    if (!current.isAlive()) {
      if (performance.now() < restUntil)
        throw new EmbedderUnavailable('The local model failed; its circuit is open until the next restart attempt.');
      failures += 1;
      const restMs = retryDelayMs(restarts, failures);
      restUntil = performance.now() + restMs;
      logger.warn({ pause_ms: restMs }, 'embedding model process restarted');
      current = start();
    }
    const process = current;
    const facts = await process.ready.catch((error: Error) => {
      throw new EmbedderUnavailable(error.message);
    });
    if (facts.fingerprint === fingerprint) return process;
    throw new EmbedderUnavailable('The files of the local model have changed. Restart the service.');
  }

  const once = async (request: EmbedRequest, signal: AbortSignal) => (await find()).embed(request, signal);

  return {
    async embed(request: EmbedRequest, signal: AbortSignal) {
      const vectors = await once(request, signal).catch((error: unknown) => {
        // A batch in flight when its process ended is sent to the next process. A question is not sent again, because
        // it cannot wait that long.
        if (!(error instanceof EmbedderUnavailable) || request.urgent || current.isAlive()) throw error;
        return once(request, signal);
      });
      failures = 0;
      return vectors;
    },
    async close() {
      closed = true;
      await current.close();
    },
  };
}

/** The runtime is installed next to this file, separately from the service: ADR 0050. */
export const runtimeManifest = fileURLToPath(new URL('../../../../../onnx-runtime/package.json', import.meta.url));
const advice = 'In the folder of Quartermaster, run: npm run add-onnx';

/** @throws OperatorError that names the command to install the runtime */
export async function checkRuntime(manifest: string): Promise<void> {
  const { dependencies } = await readManifest(manifest);
  for (const [name, wanted] of Object.entries(dependencies ?? {})) {
    const found = await readManifest(join(dirname(manifest), 'node_modules', name, 'package.json')).catch(() => null);
    if (found?.version === wanted) continue;
    const state = found === null ? 'which is not installed' : `and ${found.version} is installed`;
    throw new OperatorError(`QUARTERMASTER_EMBEDDING_PROVIDER=onnx needs ${name} ${wanted}, ${state}. ${advice}`);
  }
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

async function readManifest(file: string): Promise<Manifest> {
  return JSON.parse(await readFile(file, 'utf8')) as Manifest; // npm writes them, and we one
}
