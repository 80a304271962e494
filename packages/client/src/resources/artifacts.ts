import type { PluginsApi } from '../generated/plugins-api.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';

export interface ArtifactContentOptions extends RequestOptions {
  /** Such as `bytes=0-1023`. */
  readonly range?: string;
}

export type Artifacts = ReturnType<typeof createArtifacts>;

/** Media and large outputs of plugins. */
export function createArtifacts(calls: Calls<PluginsApi>) {
  const path = (artifactId: string) => ({ artifact_id: artifactId });
  return {
    get: (artifactId: string, options: RequestOptions = {}) =>
      calls.data('GET /v1/artifacts/{artifact_id}', { path: path(artifactId) }, options),
    /**
     * Returns the response with the bytes, which a caller can read as a stream. It asks this service, also when `file_url` names
     * another address.
     */
    download: async (artifactId: string, { range, ...options }: ArtifactContentOptions = {}): Promise<Response> => {
      const { file_url } = await calls.data('GET /v1/artifacts/{artifact_id}', { path: path(artifactId) }, options);
      const { searchParams } = new URL(file_url);
      const read = (name: string) => searchParams.get(name) ?? '';
      const query = { project: read('project'), expires: read('expires'), signature: read('signature') };
      const request = { path: path(artifactId), query, headers: { range } };
      return await calls.raw('GET /v1/artifacts/{artifact_id}/content', request, options);
    },
    delete: (artifactId: string, options: RequestOptions = {}) =>
      calls.done('DELETE /v1/artifacts/{artifact_id}', { path: path(artifactId) }, options),
  };
}
