import { resolve } from 'node:path';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { version } from '../../platform/version.ts';
import type { CountTokens } from '../../stores/search/analysis/measure-text.ts';
import type { Embedder } from '../../stores/search/embedding/embedder.ts';
import { createEmbedderMetrics, type EmbedderMetrics } from '../../stores/search/embedding/embedder-metrics.ts';
import { createHttpEmbedder } from '../../stores/search/embedding/http-embedder.ts';
import { openOnnxEmbedder } from '../../stores/search/embedding/onnx/onnx-embedder.ts';
import type { EmbeddingProvider } from '../../stores/search/embedding/providers/providers.ts';
import { type EmbeddingProviderName, embeddingProviders } from '../../stores/search/embedding/providers/providers.ts';
import { startModelTrials, type TriedModel } from '../../stores/search/embedding/try-model.ts';
import { openVectorIndex } from '../../stores/search/vector-codes/open-vector-index.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import type { ModelConfig } from '../settings/models-file.ts';
import type { EmbeddingParts } from './collection-context.ts';
import type { ServiceContext } from './context.ts';

const backoffMs = 500;
/** The texts of one request to a service or a local model, and the time for it. */
const batchSize = 32;
const timeoutMs = 30_000;
/** A local model whose process uses more is restarted. */
export const localMemoryMb = 4096;

/** Creates what the settings require to embed texts and search vectors. Undefined when embedding is off; stored vectors stay. */
export async function openEmbedding(
  context: ServiceContext,
  countTokens: CountTokens,
): Promise<EmbeddingParts | undefined> {
  const { config, resources, logger } = context;
  if (config.embeddingProvider === 'none') return undefined;
  const metrics = createEmbedderMetrics(context.registry);
  const tried: TriedModel[] = [];
  async function open(model: ModelConfig): Promise<Embedder> {
    const embedder = await openModel(context, model, { countTokens, metrics });
    resources.defer(() => embedder.close());
    tried.push({ embedder, dimensions: model.embeddingDimensions });
    return metrics.watch(embedder);
  }
  const models = [config, ...config.furtherModels] as const;
  const [embedder, ...furtherEmbedders] = await openDistinct(models, open);
  const settings = new Map([embedder, ...furtherEmbedders].map(({ model }, place) => [model, models[place]]));
  const trials = startModelTrials(tried, { metrics, logger });
  resources.defer(() => trials.close());
  return {
    embedder,
    furtherEmbedders,
    formerModel: config.hasFormerModel ? furtherEmbedders[0]?.model : undefined,
    priceOf: (model) => settings.get(model)?.embeddingPrice ?? null,
    dimensionsOf: (model) => settings.get(model)?.embeddingDimensions ?? null,
    observe: metrics.observe,
    openIndex: (readVectors) => openVectorIndex({ readVectors, memory: config.vectorMemoryMb * 1024 * 1024, logger }),
  };
}

/** Opens the embedder of a model whose provider is not `none`. */
export function openModel(
  context: Pick<ServiceContext, 'config' | 'logger'>,
  model: ModelConfig,
  options: Omit<ServiceOptions, 'provider'>,
): Promise<Embedder> {
  const provider = model.embeddingProvider as ModelProvider; // the caller has checked it
  return provider === 'onnx'
    ? openLocalModel(context, model, options.metrics)
    : openService(context, model, { provider, ...options });
}

type ModelProvider = Exclude<ModelConfig['embeddingProvider'], 'none'>;

/** @throws OperatorError when two of the models have the same name, because their vectors cannot be told apart */
async function openDistinct(
  [first, ...further]: readonly [ModelConfig, ...ModelConfig[]],
  open: (model: ModelConfig) => Promise<Embedder>,
): Promise<[Embedder, ...Embedder[]]> {
  const opened: [Embedder, ...Embedder[]] = [await open(first)];
  for (const model of further) {
    const next = await open(model);
    if (opened.some((each) => each.model === next.model)) {
      throw new OperatorError(
        `QUARTERMASTER_EMBEDDING_MODELS_FILE lists ${next.model}, which is configured already. Remove it from the file.`,
      );
    }
    opened.push(next);
  }
  return opened;
}

interface ServiceOptions {
  readonly provider: EmbeddingProviderName;
  readonly countTokens: CountTokens;
  readonly metrics: EmbedderMetrics;
}

async function openService(
  { config, logger }: Pick<ServiceContext, 'config' | 'logger'>,
  settings: ModelConfig,
  { provider, countTokens, metrics }: ServiceOptions,
): Promise<Embedder> {
  const { url, model } = findEndpoint(settings, provider);
  // A separate broker for one origin. The operator has named the origin, so it may have a private address.
  const { origin } = new URL(url);
  const overrides = new Map([[origin, config.egressOverrides.get(origin) ?? origin]]);
  return createHttpEmbedder({
    provider,
    broker: createBroker({ overrides, allow: [], version, logger }),
    url,
    model,
    key: settings.embeddingKey,
    dimensions: settings.embeddingDimensions,
    prefixes: { question: settings.embeddingQueryPrefix, chunk: settings.embeddingDocumentPrefix },
    batchSize,
    countTokens,
    timeoutMs,
    backoffMs,
    onTokens: metrics.tokensUsed,
  });
}

/** @throws OperatorError when the provider has no default for a setting that is unset */
function findEndpoint({ embeddingUrl, embeddingModel }: ModelConfig, provider: EmbeddingProviderName) {
  const described: EmbeddingProvider = embeddingProviders[provider];
  const url = embeddingUrl ?? described.url;
  const model = embeddingModel ?? described.model;
  if (url !== null && model !== null) return { url, model };
  const missing = url === null ? 'QUARTERMASTER_EMBEDDING_URL' : 'QUARTERMASTER_EMBEDDING_MODEL';
  throw new OperatorError(`QUARTERMASTER_EMBEDDING_PROVIDER is ${provider}: set ${missing}, too.`);
}

async function openLocalModel(
  { logger }: Pick<ServiceContext, 'logger'>,
  settings: ModelConfig,
  metrics: EmbedderMetrics,
): Promise<Embedder> {
  const folder = settings.embeddingModel;
  if (folder === null) {
    throw new OperatorError(
      'QUARTERMASTER_EMBEDDING_PROVIDER is onnx: set QUARTERMASTER_EMBEDDING_MODEL to the folder of the model, too.',
    );
  }
  return openOnnxEmbedder({
    folder: resolve(folder),
    dimensions: settings.embeddingDimensions,
    threads: settings.embeddingThreads,
    memoryMb: localMemoryMb,
    timeoutMs,
    batchSize,
    logger,
    onStart: metrics.processStarted,
  });
}
