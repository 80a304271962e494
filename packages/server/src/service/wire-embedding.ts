import { readFile } from 'node:fs/promises';
import { createBroker } from '../egress/create-broker.ts';
import { OperatorError } from '../kernel/process/operator-error.ts';
import { Secret } from '../kernel/secret.ts';
import { version } from '../kernel/version.ts';
import type { Embedder } from '../search/embedding/embedder.ts';
import { createEmbedderMetrics, type EmbedderMetrics } from '../search/embedding/embedder-metrics.ts';
import { openOnnxEmbedder } from '../search/embedding/onnx/onnx-embedder.ts';
import { openVectorIndex } from '../search/embedding/open-vector-index.ts';
import { createOpenAiEmbedder } from '../search/embedding/openai-embedder.ts';
import type { Config } from '../settings/config.ts';
import type { EmbeddingParts } from './collection-context.ts';
import type { ServiceContext } from './context.ts';

const backoffMs = 500;

/** Creates what the settings require to embed texts and search vectors. Undefined when embedding is off; stored vectors stay. */
export async function openEmbedding(context: ServiceContext): Promise<EmbeddingParts | undefined> {
  const { config, resources, logger } = context;
  if (config.embeddingProvider === 'none') return undefined;
  if (config.embeddingProvider === 'hash') {
    const remedy = 'Set QUARTERMASTER_EMBEDDING_PROVIDER to none, openai or onnx.';
    logger.warn({ remedy }, 'embedding provider hash removed, vectors are off');
    return undefined;
  }
  const metrics = createEmbedderMetrics(context.registry);
  const embedder = metrics.watch(await createEmbedder(context, config.embeddingProvider, metrics));
  resources.defer(() => embedder.close());
  return {
    embedder,
    openIndex: (load) => openVectorIndex({ load, memory: config.vectorMemoryMb * 1024 * 1024 }),
  };
}

async function createEmbedder(
  { config, logger }: ServiceContext,
  provider: Exclude<Config['embeddingProvider'], 'none' | 'hash'>,
  metrics: EmbedderMetrics,
): Promise<Embedder> {
  switch (provider) {
    case 'openai': {
      // A separate broker for one origin. The operator has named the origin, so it may have a private address.
      const { origin } = new URL(config.embeddingUrl);
      const overrides = new Map([[origin, config.egressOverrides.get(origin) ?? origin]]);
      return createOpenAiEmbedder({
        broker: createBroker({ overrides, allow: [], version, logger }),
        url: config.embeddingUrl,
        model: config.embeddingModel,
        key: await readKey(config),
        dimensions: config.embeddingDimensions,
        batchSize: config.embeddingBatch,
        timeoutMs: config.embeddingSeconds * 1000,
        backoffMs,
      });
    }
    case 'onnx': {
      const folder = config.embeddingFolder;
      if (folder === null) {
        throw new OperatorError('QUARTERMASTER_EMBEDDING_PROVIDER is onnx: set QUARTERMASTER_EMBEDDING_FOLDER, too.');
      }
      return openOnnxEmbedder({
        folder,
        dimensions: config.embeddingDimensions,
        threads: config.embeddingThreads,
        memoryMb: config.embeddingMemoryMb,
        timeoutMs: config.embeddingSeconds * 1000,
        batchSize: config.embeddingBatch,
        logger,
        onStart: metrics.processStarted,
      });
    }
  }
}

/** @throws OperatorError when both settings are set, or when the file is unreadable or empty */
async function readKey({ embeddingKey, embeddingKeyFile }: Config): Promise<Secret | null> {
  if (embeddingKeyFile === null) return embeddingKey;
  if (embeddingKey !== null) {
    throw new OperatorError(
      'QUARTERMASTER_EMBEDDING_KEY and QUARTERMASTER_EMBEDDING_KEY_FILE are both set. Set one of them.',
    );
  }
  const key = (await readFile(embeddingKeyFile, 'utf8')).trim();
  if (key === '') throw new OperatorError('The file that QUARTERMASTER_EMBEDDING_KEY_FILE names is empty.');
  return new Secret(key);
}
