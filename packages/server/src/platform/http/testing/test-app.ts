import { noAudit } from '../../audit/testing/no-audit.ts';
import { createLogger } from '../../log/logger.ts';
import { createMetrics } from '../../metrics.ts';
import { type AppDeps, createApp } from '../create-app.ts';
import { createDrain } from '../drain.ts';
import { createRequestMetrics } from '../request-metrics.ts';

/** Creates the application of the files address, without a log unless the test asks for one. */
export function createTestApp(more: Partial<AppDeps> = {}) {
  const requestMetrics = createRequestMetrics(createMetrics());
  const logger = createLogger('silent');
  return createApp({ logger, address: 'files', requestMetrics, drain: createDrain(), audit: noAudit, ...more });
}
