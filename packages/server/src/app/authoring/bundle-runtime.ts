import { createAdmission } from '../../platform/admission/admission.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { version } from '../../platform/version.ts';
import type { Catalogue } from '../../tools/catalogue/catalogue.ts';
import type { Broker } from '../../tools/egress/broker.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { createExecutor } from '../../tools/execution/create-executor.ts';
import type { Executor } from '../../tools/execution/executor.ts';
import { openSandbox } from '../../tools/execution/sandbox/open-sandbox.ts';

/** The broker, sandbox and executor of the service, for one bundle at a time. */
export interface BundleRuntime {
  readonly executor: Executor;
  close(): Promise<void>;
}

export interface BundleRuntimeOptions {
  readonly catalogue: Catalogue;
  readonly overrides: ReadonlyMap<string, string>;
  readonly allow: readonly string[];
  /** Wraps the broker that plugins call. */
  readonly wrap: (broker: Broker) => Broker;
}

export async function openBundleRuntime(options: BundleRuntimeOptions): Promise<BundleRuntime> {
  const { catalogue, overrides, allow, wrap } = options;
  const [logger, metrics] = [createLogger('silent'), createMetrics()];
  const broker = createBroker({ overrides, allow, logger, version });
  const admission = createAdmission({ metrics });
  const sandbox = await openSandbox({
    admission,
    ...{ maxChildrenPerBundle: 1, maxChildren: 2, queueLength: 16, idleMs: 60_000, recycleAfterRuns: 1_000 },
    ...{ logger, metrics },
  });
  const executor = createExecutor({
    admission,
    catalogue: () => catalogue,
    broker: wrap(broker),
    sandbox,
    newId: createNewId(),
    logger,
    metrics,
    version,
    // Each recording contains the check of the tool's definition too.
    limits: { toolBeliefMs: 0 },
  });
  return {
    executor,
    close: async () => {
      await sandbox.close();
      await broker.close();
    },
  };
}
