import { resolve } from 'node:path';
import { once } from '../../platform/concurrency/once.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { version } from '../../platform/version.ts';
import type { CountTokens } from '../../stores/search/analysis/measure-text.ts';
import type { Embedder } from '../../stores/search/embedding/embedder.ts';
import { createEmbedderMetrics, type EmbedderMetrics } from '../../stores/search/embedding/embedder-metrics.ts';
import { createHttpEmbedder } from '../../stores/search/embedding/http-embedder.ts';
import { openOnnxEmbedder } from '../../stores/search/embedding/onnx/onnx-embedder.ts';
import type { EmbeddingProvider } from '../../stores/search/embedding/providers/providers.ts';
import { type EmbeddingProviderName, embeddingProviders } from '../../stores/search/embedding/providers/providers.ts';
import { startModelTrials } from '../../stores/search/embedding/try-model.ts';
import { openVectorIndex } from '../../stores/search/vector-codes/open-vector-index.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import type { Config } from '../settings/config.ts';
import type { ModelConfig } from '../settings/models-file.ts';
import type { EmbeddingParts } from './collection-context.ts';
import type { ServiceContext } from './context.ts';

const backoffMs = 500;
/** The texts of one request to a service or a local model, and the time for it. */
const batchSize = 32;
const timeoutMs = 30_000;
/** A local model whose process uses more is restarted. */
export const localMemoryMb = 4096;

/** The models of the service. New collections get the first one. */
export interface ModelSet {
  readonly models: readonly ModelConfig[];
  /** Whether the second one was in use before the first one was chosen. */
  readonly hasFormer: boolean;
}

/** The models of the settings, and those that an administrator had chosen before the start. */
export function modelsOf(config: Config): ModelSet {
  if (config.embeddingProvider === 'none') return { models: [], hasFormer: false };
  return { models: [config, ...config.furtherModels], hasFormer: config.hasFormerModel };
}

export interface OpenedModels {
  /** What embeds texts and searches vectors. Undefined when embedding is off; stored vectors stay. */
  readonly parts: EmbeddingParts | undefined;
  /** Closes the previous models that are not among these. Call it when nothing uses them. */
  closeOthers(): Promise<void>;
}

interface OpenModel {
  readonly settings: ModelConfig;
  readonly embedder: Embedder;
}

/** @throws OperatorError when a model cannot be used; the previous models then stay open */
export type OpenModels = (set: ModelSet) => Promise<OpenedModels>;

/** Opens the models of the service, at its start and when an administrator has chosen others. Those in both sets stay open. */
export function createEmbeddingModels(
  context: ServiceContext,
  countTokens: CountTokens,
): { readonly open: OpenModels } {
  const { config, resources, logger } = context;
  const metricsNow = once(() => createEmbedderMetrics(context.registry));
  let opened: readonly OpenModel[] = [];
  let trials: ReturnType<typeof startModelTrials> | undefined;
  const closeAll = async (models: readonly OpenModel[]) => {
    await Promise.all(models.map(({ embedder }) => embedder.close()));
    for (const { embedder } of models) metricsNow().closed(embedder.model);
  };
  resources.defer(() => closeAll(opened));
  resources.defer(() => trials?.close());

  async function open({ models, hasFormer }: ModelSet): Promise<OpenedModels> {
    const before = opened;
    const next: OpenModel[] = [];
    try {
      for (const settings of models) {
        const known = before.find((each) => isSameModel(each.settings, settings));
        const options = { countTokens, metrics: metricsNow() };
        next.push(known ?? { settings, embedder: await openModel(context, settings, options) });
        assertDistinct(next);
      }
    } catch (error) {
      await closeAll(next.filter((each) => !before.includes(each)));
      throw error;
    }
    opened = next;
    await trials?.close();
    trials = startTrials(next);
    const closeOthers = () => closeAll(before.filter((each) => !next.includes(each)));
    return { parts: describe(next, hasFormer), closeOthers };
  }

  function startTrials(models: readonly OpenModel[]) {
    if (models.length === 0) return undefined;
    const tried = models.map(({ embedder, settings }) => ({ embedder, dimensions: settings.embeddingDimensions }));
    return startModelTrials(tried, { metrics: metricsNow(), logger });
  }

  function describe(models: readonly OpenModel[], hasFormer: boolean): EmbeddingParts | undefined {
    const [embedder, ...furtherEmbedders] = models.map((each) => metricsNow().watch(each.embedder));
    if (embedder === undefined) return undefined;
    const settings = new Map(models.map((each) => [each.embedder.model, each.settings]));
    return {
      embedder,
      furtherEmbedders,
      formerModel: hasFormer ? furtherEmbedders[0]?.model : undefined,
      priceOf: (model) => settings.get(model)?.embeddingPrice ?? null,
      dimensionsOf: (model) => settings.get(model)?.embeddingDimensions ?? null,
      observe: metricsNow().observe,
      openIndex: (readVectors) => openVectorIndex({ readVectors, memory: config.vectorMemoryMb * 1024 * 1024, logger }),
    };
  }

  return { open };
}

/** The models of the settings are read once. Those of folders are read again for each exchange. */
function isSameModel(one: ModelConfig, other: ModelConfig): boolean {
  const areLocal = one.embeddingProvider === 'onnx' && other.embeddingProvider === 'onnx';
  return one === other || (areLocal && one.embeddingModel === other.embeddingModel);
}

/** @throws OperatorError when the last model has the name of another one, because their vectors cannot be told apart */
function assertDistinct(models: readonly OpenModel[]): void {
  const last = models.at(-1)?.embedder.model;
  if (models.filter(({ embedder }) => embedder.model === last).length < 2) return;
  throw new OperatorError(
    `QUARTERMASTER_EMBEDDING_MODELS_FILE lists ${last}, which is configured already. Remove it from the file.`,
  );
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
