import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { Problem } from '../../platform/problem.ts';
import { loadCatalogue } from '../catalogue/load/load-catalogue.ts';
import { createExecutor } from './create-executor.ts';
import type { SandboxTask } from './sandbox/sandbox.ts';

const bundles = new URL('../../../../../bundles', import.meta.url).pathname;

async function openExecutor(sandboxMissing: string | null) {
  const logger = createLogger('silent');
  const tasks: SandboxTask[] = [];
  const catalogue = await loadCatalogue({
    folders: [bundles],
    capabilities: { handlers: (folder) => (folder.endsWith('/arithmetic') ? 'sandbox' : 'process'), sandboxMissing },
    publicUrl: 'http://127.0.0.1:1',
    logger,
  });
  const executor = createExecutor({
    admission: createAdmission(),
    ...{ catalogue: () => catalogue, newId: createNewId(), logger, metrics: createMetrics() },
    broker: { send: () => assert.fail('no call goes out here'), close: async () => {} },
    sandbox: {
      capabilities: {
        ...{ permissions: true, networkDenied: true, separateUser: true },
        sandbox: sandboxMissing === null ? { available: true } : { available: false, missing: sandboxMissing },
        cgroup: { available: false, missing: 'this test needs none' },
      },
      run: async (task) => {
        tasks.push(task);
        return { kind: 'returned', output: { result: 3 } };
      },
      close: async () => {},
    },
  });
  const request = {
    ...{ bundle_id: 'arithmetic', plugin_id: 'add', credentials: {} },
    input_params: { number_1: 1, number_2: 2 },
  };
  return { catalogue, tasks, run: () => executor.execute(request, new AbortController().signal) };
}

test('a handler runs in the isolation that its bundle needs', async () => {
  const { catalogue, tasks, run } = await openExecutor(null);
  assert.equal((await run()).outcome.kind, 'succeeded');
  assert.equal(tasks[0]?.isolation, 'sandbox');
  assert.equal(catalogue.findBundle('arithmetic')?.isolation, 'sandbox');
  assert.equal(catalogue.findBundle('calculator')?.isolation, 'process');
  assert.deepEqual(catalogue.failures, []);
});

test('where the machine lacks the isolation, the handler is refused with the reason', async () => {
  const { catalogue, tasks, run } = await openExecutor('bubblewrap is not installed');
  await assert.rejects(run(), (error: unknown) => {
    assert.ok(error instanceof Problem);
    assert.equal(error.status, 503);
    assert.match(error.message, /arithmetic.*need a sandbox, and bubblewrap is not installed/);
    return true;
  });
  assert.deepEqual(tasks, []);
  const message = 'Its handlers need a sandbox, and bubblewrap is not installed.';
  assert.deepEqual(catalogue.failures, [{ file: 'arithmetic/bundle.yaml', line: null, field: 'handler', message }]);
  assert.ok(catalogue.findPlugin('arithmetic', 'add') !== undefined, 'it is listed all the same');
});
