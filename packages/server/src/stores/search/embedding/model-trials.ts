import { type RunningTask, startPeriodicTasks } from '../../../platform/concurrency/periodic-task.ts';
import type { Logger } from '../../../platform/log/logger.ts';
import type { Embedder } from './embedder.ts';
import type { EmbedderMetrics } from './embedder-metrics.ts';
import { tryModel } from './try-model.ts';

export interface TriedModel {
  readonly embedder: Embedder;
  /** The dimensions of the settings; null for those of the model. */
  readonly dimensions: number | null;
}

export interface ModelTrialDeps {
  readonly metrics: Pick<EmbedderMetrics, 'tried'>;
  readonly logger: Logger;
  /** Milliseconds between two trials of a model that fails. */
  readonly pauseMs?: number;
}

const defaultPauseMs = 5 * 60_000;

/**
 * Tries each model once after a start, in the background, so that a start never fails or waits for it. A model that fails is
 * tried again until it works. Each problem is logged once.
 */
export function startModelTrials(models: readonly TriedModel[], deps: ModelTrialDeps): Pick<RunningTask, 'close'> {
  const { metrics, logger, pauseMs: pause = defaultPauseMs } = deps;
  const tasks = models.map(({ embedder, dimensions: wanted }) => {
    const { model } = embedder;
    let logged: string | null = null;
    let isWorking = false;
    async function run(signal: AbortSignal): Promise<void> {
      if (isWorking) return;
      const { dimensions, problem } = await tryModel(embedder, wanted, signal);
      isWorking = problem === null;
      metrics.tried(model, isWorking);
      if (isWorking) logger.info({ model, dimensions }, 'embedding model works');
      else if (problem !== logged) logger.warn({ model, reason: problem }, 'embedding model failed');
      logged = problem;
    }
    return { name: `trial of ${model}`, pause, run };
  });
  return startPeriodicTasks(tasks, logger);
}
