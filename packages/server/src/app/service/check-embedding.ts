import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { createEmbedderMetrics } from '../../stores/search/embedding/embedder-metrics.ts';
import { type ModelTrial, tryModel } from '../../stores/search/embedding/try-model.ts';
import { type Environment, parseConfig } from '../settings/config.ts';
import type { ModelConfig } from '../settings/models-file.ts';
import { openModel } from './wire-embedding.ts';

/** A configured embedding model, after one short text was sent to it. */
export interface CheckedModel extends ModelTrial {
  readonly provider: string;
  /** Null when the settings do not name one. */
  readonly model: string | null;
}

/**
 * Sends one short text to each configured model, through the egress broker, without retries.
 * @returns an empty list when no model is configured
 * @throws ConfigError, or the reason of the aborted signal
 */
export async function checkEmbedding(environment: Environment, signal: AbortSignal): Promise<CheckedModel[]> {
  const config = parseConfig(environment);
  if (config.embeddingProvider === 'none') return [];
  const context = { config, logger: createLogger('silent') };
  const metrics = createEmbedderMetrics(createMetrics());
  const checked: CheckedModel[] = [];
  for (const settings of [config, ...config.furtherModels]) {
    const about = { provider: settings.embeddingProvider, model: settings.embeddingModel };
    checked.push({ ...about, ...(await checkModel(settings, signal)) });
  }
  return checked;

  async function checkModel(settings: ModelConfig, signal: AbortSignal): Promise<ModelTrial> {
    try {
      // Nothing counts the tokens of a question.
      await using embedder = await openClosable(settings);
      return await tryModel(embedder, settings.embeddingDimensions, signal);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      return { dimensions: null, problem: error.message };
    }
  }

  async function openClosable(settings: ModelConfig) {
    const embedder = await openModel(context, settings, { countTokens: async () => 0, metrics });
    return { ...embedder, [Symbol.asyncDispose]: embedder.close };
  }
}
