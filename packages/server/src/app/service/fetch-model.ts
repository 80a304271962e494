import { createLogger } from '../../platform/log/logger.ts';
import { version } from '../../platform/version.ts';
import {
  type FetchedModel,
  fetchModel,
  type ModelRequest,
} from '../../stores/search/embedding/model-fetch/fetch-model.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { type Environment, parseConfig } from '../settings/config.ts';

export type { FetchedModel, ModelRequest };

/**
 * Downloads a model through the egress broker, with the settings of the service.
 * @throws ConfigError, OperatorError, or the reason of the aborted signal
 */
export async function fetchModelFiles(
  environment: Environment,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<FetchedModel> {
  const config = parseConfig(environment);
  const { origin } = new URL(request.url);
  const broker = createBroker({
    // The operator has named the origin, so it may have a private address.
    overrides: new Map([...config.egressOverrides, [origin, config.egressOverrides.get(origin) ?? origin]]),
    allow: config.egressAllow,
    version,
    logger: createLogger('silent'),
  });
  try {
    return await fetchModel(broker, request, signal);
  } finally {
    await broker.close();
  }
}
