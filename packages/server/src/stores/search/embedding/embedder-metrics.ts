import { Counter, Gauge, Histogram, type Registry, registerGauge } from '../../../platform/metrics.ts';
import { type Embedder, EmbedderUnavailable, type TextFailure } from './embedder.ts';

/** The state of the embedding of chunks. */
export interface EmbeddingState {
  /** Whether the embedder has failed and is not called for chunks at present. */
  isPaused(): boolean;
  /** Counts the collections in which a chunk may lack its vector. */
  countBacklog(): Promise<number>;
}

export interface EmbedderMetrics {
  /** Replaces the state from which the metrics are read. */
  observe(state: EmbeddingState): void;
  /** Wraps an embedder so that its calls are counted. */
  watch(embedder: Embedder): Embedder;
  /** Counts tokens of chunks or questions, as the service states them. */
  tokensUsed(use: 'chunk' | 'question', count: number): void;
  /** Counts a start or restart of the process of a local model. */
  processStarted(): void;
  /** Notes whether the trial of a model has succeeded. */
  tried(model: string, isWorking: boolean): void;
  /** Forgets the trials of a model that is no longer open. */
  closed(model: string): void;
}

/** Upper bounds in seconds, from a word on a fast model to a batch on a slow one. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 3, 10, 30];

export function createEmbedderMetrics(registry: Registry): EmbedderMetrics {
  const texts = new Counter({
    name: 'quartermaster_embedded_texts_total',
    help: 'Texts sent to the embedder, by use (chunk or question) and outcome (made, refused, failed, unavailable).',
    labelNames: ['use', 'outcome'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'quartermaster_embedding_seconds',
    help: 'Response time of the embedder in seconds, by use: a batch of chunks or a question.',
    labelNames: ['use'],
    buckets: bounds,
    registers: [registry],
  });
  const tokens = new Counter({
    name: 'quartermaster_embedding_tokens_total',
    help: 'Tokens that the embedding service counted, by use: chunk or question. Some services state none.',
    labelNames: ['use'],
    registers: [registry],
  });
  const starts = new Counter({
    name: 'quartermaster_embedder_starts_total',
    help: 'Started processes of the local model. More than one means that it failed.',
    registers: [registry],
  });
  const working = new Gauge({
    name: 'quartermaster_embedding_model_works',
    help: '1 when the model has returned a vector since the start, 0 while the trial after the start fails.',
    labelNames: ['model'],
    registers: [registry],
  });

  async function measure<Result>(
    use: 'chunk' | 'question',
    count: number,
    embed: () => Promise<Result>,
  ): Promise<Result> {
    const started = performance.now();
    try {
      return await embed();
    } catch (error) {
      if (error instanceof EmbedderUnavailable) texts.inc({ use, outcome: 'unavailable' }, count);
      throw error;
    } finally {
      seconds.observe({ use }, (performance.now() - started) / 1000);
    }
  }

  let observed: EmbeddingState | undefined;

  return {
    observe(state) {
      const isFirst = observed === undefined;
      observed = state;
      if (!isFirst) return;
      registerGauge(
        registry,
        'quartermaster_embedder_paused',
        '1 while the embedder gets no chunks because it has failed, otherwise 0.',
        () => (observed?.isPaused() === true ? 1 : 0),
      );
      registerGauge(
        registry,
        'quartermaster_embedding_backlog_collections',
        'Collections in which chunks may lack their vectors.',
        () => observed?.countBacklog() ?? 0,
      );
    },
    watch: (embedder) => ({
      ...embedder,
      async embed(all, signal, call) {
        const vectors = await measure('chunk', all.length, () => embedder.embed(all, signal, call));
        for (const vector of vectors) texts.inc({ use: 'chunk', outcome: outcomeOf(vector) });
        return vectors;
      },
      async embedQuestion(text, signal) {
        const vector = await measure('question', 1, () => embedder.embedQuestion(text, signal));
        texts.inc({ use: 'question', outcome: 'made' });
        return vector;
      },
    }),
    tokensUsed: (use, count) => tokens.inc({ use }, count),
    processStarted: () => starts.inc(),
    closed: (model) => working.remove({ model }),
    tried: (model, isWorking) => working.set({ model }, isWorking ? 1 : 0),
  };
}

function outcomeOf(embedded: Float32Array | TextFailure): string {
  if (embedded instanceof Float32Array) return 'made';
  return embedded.isRefused ? 'refused' : 'failed';
}
