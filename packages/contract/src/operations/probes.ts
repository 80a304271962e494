import { describeOperations } from './operation.ts';

/** The operations of both addresses. */
export const serviceOperations = describeOperations('operations', {
  getOpenApi: {
    summary: 'Get this OpenAPI document',
    description: 'Returns an OpenAPI 3.1 document. The service validates requests with the same schemas.',
    examples: { document: {} },
  },
  getHealth: {
    summary: 'Check that the process is alive',
    description:
      'Also lists facts such as the version and what isolates plugins. Calls neither the database nor a third party.',
    examples: { health: {} },
  },
  getReadiness: {
    summary: 'Check that requests can be served',
    description:
      'Returns 200, or 503 with each `part` that failed: `database`, `blobs`, or `process` while the service stops. `?verbose` adds problems with stored files. Use it in load balancers.',
    examples: { ready: {}, verbose: { summary: 'List problems with stored files', query: { verbose: '1' } } },
  },
  getVersion: {
    summary: 'Get the version of the service',
    description: 'Returns the version of the running service, such as `0.1.0`. No key is required.',
    examples: { version: {} },
  },
  getMetrics: {
    summary: 'Get metrics in the Prometheus text format',
    description:
      'The scope `admin` includes `metrics`. The plugins address also accepts the scope `plugins`, and requests without a key while it requires none.',
    scope: 'metrics',
    examples: { metrics: {} },
  },
});
