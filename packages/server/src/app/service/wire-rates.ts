import { createRates } from '../../platform/admission/rates.ts';
import { startPeriodicTasks } from '../../platform/concurrency/periodic-task.ts';
import { createRateLimitRepository } from '../../storage/repositories/rate-limit-repository.ts';
import type { ServiceContext } from './context.ts';

const sweepPauseMs = 3_600_000;
/** Longer than the longest window. */
const keptMs = 2 * 86_400_000;

type RatesContext = Pick<ServiceContext, 'database' | 'logger' | 'registry' | 'resources'>;

/** Opens the rate limits of all projects. */
export function openRates({ database, logger, registry: metrics, resources }: RatesContext) {
  const { clock } = database;
  const rateLimits = createRateLimitRepository(database);
  const rates = createRates({ repository: rateLimits, clock, logger, metrics });
  resources.defer(() => rates.close());
  const sweep = { name: 'forget rates', pause: sweepPauseMs, run: () => rateLimits.sweep(clock.now() - keptMs) };
  const tasks = startPeriodicTasks([sweep], logger);
  resources.defer(() => tasks.close());
  return { rates, rateLimits };
}
