import type { FilesApi } from '../generated/files-api.ts';
import { createCalls } from '../transport/calls.ts';
import type { RequestOptions, Transport } from '../transport/transport.ts';

/** The operations that both addresses have. */
type ServiceApi = Pick<
  FilesApi,
  'GET /v1/health_check' | 'GET /v1/ready' | 'GET /v1/version' | 'GET /metrics' | 'GET /openapi.json'
>;

export type Service = ReturnType<typeof createService>;

/** The state of one address of the service. Both addresses have these operations. */
export function createService(transport: Transport) {
  const calls = createCalls<ServiceApi>(transport);
  return {
    /** Checks that the process is alive. */
    health: (options: RequestOptions = {}) => calls.data('GET /v1/health_check', {}, options),
    /** Checks that requests can be served, and lists the parts and their conditions. @throws ServerError */
    readiness: (options: RequestOptions = {}) => calls.json('GET /v1/ready', { query: { verbose: '' } }, options),
    version: (options: RequestOptions = {}) => calls.data('GET /v1/version', {}, options),
    /** Returns the metrics in the Prometheus text format. */
    metrics: (options: RequestOptions = {}) => calls.raw('GET /metrics', {}, options),
    /** Returns the OpenAPI document of the address. */
    openApi: (options: RequestOptions = {}) => calls.raw('GET /openapi.json', {}, options),
  };
}
