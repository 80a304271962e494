import { ApiError } from '@quartermaster/client/api';
import type { Artifact } from '@quartermaster/contract';
import { pluginsApi } from './addresses.ts';

/** Reads the bytes through the origin of the page, with the signature of the artifact's URL, which names another address. */
export function sendForArtifact({ artifact_id, file_url }: Artifact): Promise<Response> {
  const signed = new URL(file_url).searchParams;
  const partOf = (name: string) => signed.get(name) ?? '';
  return pluginsApi.send('GET /v1/artifacts/{artifact_id}/content', {
    path: { artifact_id },
    query: { project: partOf('project'), expires: partOf('expires'), signature: partOf('signature') },
  });
}

/** @returns null when the artifact has expired or was deleted */
export async function readArtifact(artifact: Artifact): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return new Uint8Array(await (await sendForArtifact(artifact)).arrayBuffer());
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
