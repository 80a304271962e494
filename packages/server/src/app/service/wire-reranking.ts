import { version } from '../../platform/version.ts';
import { createHttpReranker, rerankingProviders } from '../../stores/search/reranking/http-reranker.ts';
import { pauseReranker } from '../../stores/search/reranking/pause-reranker.ts';
import type { RerankDeps } from '../../stores/search/reranking/rerank-hits.ts';
import { createRerankerMetrics } from '../../stores/search/reranking/reranker-metrics.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import type { ServiceContext } from './context.ts';

/** After this time the answer has the order of the search. */
const timeoutMs = 5000;

/** Creates the reranker that the settings name. Undefined without one. */
export function openReranking({
  config,
  clock,
  logger,
  registry,
  resources,
}: Pick<ServiceContext, 'config' | 'clock' | 'logger' | 'registry' | 'resources'>): RerankDeps | undefined {
  const { rerankerProvider: provider, rerankerModel: model, rerankerKey: key } = config;
  if (provider === 'none' || model === null) return undefined;
  const url = config.rerankerUrl ?? rerankingProviders[provider].url;
  // A separate broker for one origin. The operator has named the origin, so it may have a private address.
  const { origin } = new URL(url);
  const overrides = new Map([[origin, config.egressOverrides.get(origin) ?? origin]]);
  const broker = createBroker({ overrides, allow: [], version, logger });
  const reranker = createHttpReranker({ provider, broker, url, model, key, timeoutMs });
  resources.defer(() => reranker.close());
  return { reranker: pauseReranker(reranker, clock), metrics: createRerankerMetrics(registry), logger };
}
