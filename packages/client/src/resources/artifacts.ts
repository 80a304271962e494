import type { PluginsApi } from '../generated/plugins-api.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';

export type Artifacts = ReturnType<typeof createArtifacts>;

/** Media and large outputs of plugins. */
export function createArtifacts(calls: Calls<PluginsApi>) {
  const path = (artifactId: string) => ({ artifact_id: artifactId });
  return {
    get: (artifactId: string, options: RequestOptions = {}) =>
      calls.data('GET /v1/artifacts/{artifact_id}', { path: path(artifactId) }, options),
    delete: (artifactId: string, options: RequestOptions = {}) =>
      calls.done('DELETE /v1/artifacts/{artifact_id}', { path: path(artifactId) }, options),
  };
}
