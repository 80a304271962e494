import { type Static, Type } from 'typebox';
import { Acknowledgement, Success } from '../envelope.ts';
import { describeOperations } from './operation.ts';

const Health = Success(Type.Record(Type.String(), Type.Unknown()));
const ReadyQuery = Type.Object({
  verbose: Type.Optional(Type.String({ maxLength: 10, description: 'Any value, also none.' })),
});
/** A problem of a service that still serves requests. */
export const Condition = Type.Object({
  part: Type.String(),
  condition: Type.String({
    description: 'Such as `damaged` or `orphaned` of `blobs`, or `uploads_refused` of `disk`.',
  }),
  count: Type.Integer(),
  message: Type.String(),
});
export type Condition = Static<typeof Condition>;
const Ready = Type.Object({
  ...Acknowledgement.properties,
  data: Type.Optional(Type.Object({ parts: Type.Array(Type.String()), conditions: Type.Array(Condition) })),
});

/** The operations of both addresses. */
export const serviceOperations = describeOperations('operations', {
  getOpenApi: {
    summary: 'Get this OpenAPI document',
    description: 'Returns an OpenAPI 3.1 document. The service validates requests with the same schemas.',
    security: [],
    examples: { document: {} },
  },
  getHealth: {
    summary: 'Check that the process is alive',
    description:
      'Also lists facts such as the version and what isolates plugins. Calls neither the database nor a third party.',
    security: [],
    response: { 200: Health },
    examples: { health: {} },
  },
  getReadiness: {
    summary: 'Check that requests can be served',
    description:
      'Returns 200, or 503 with each `part` that failed: `database`, `blobs`, or `process` while the service stops. `?verbose` adds problems with stored files. Use it in load balancers.',
    security: [],
    querystring: ReadyQuery,
    response: { 200: Ready },
    examples: { ready: {}, verbose: { summary: 'List problems with stored files', query: { verbose: '1' } } },
  },
  getVersion: {
    summary: 'Get the version of the service',
    description: 'Returns the version of the running service, such as `0.1.0`. No key is required.',
    security: [],
    response: { 200: Success(Type.Object({ version: Type.String() })) },
    examples: { version: {} },
  },
  getMetrics: {
    summary: 'Get metrics in the Prometheus text format',
    description:
      'The scope `admin` includes `metrics`. The plugins address also accepts the scope `plugins`, and requests without a key while it requires none.',
    scope: 'metrics',
    produces: ['text/plain'],
    examples: { metrics: {} },
  },
});
