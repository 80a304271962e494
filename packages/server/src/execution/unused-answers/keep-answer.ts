import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import { extensionOf } from '../../artifacts/media-types.ts';
import type { KeptAnswer } from '../outcome.ts';
import { mediaTypeOfAnswer } from '../output-parts/detect-media.ts';
import type { Run } from '../run-plugin.ts';
import type { UnusedAnswer } from './unused-answer.ts';

/** Stores an answer that a run could not use as an artifact of the run, because the third party may have been paid for it. ADR 0107. */
export async function keepAnswer(
  store: Pick<ArtifactStore, 'keep'> | undefined,
  { contentType, body }: UnusedAnswer,
  { caller, runId, pluginId, policy }: Run,
): Promise<KeptAnswer> {
  // Again, because the run may have received access tokens after this answer.
  const bytes = policy.egress.redactor.bytes(body);
  const mediaType = mediaTypeOfAnswer(bytes, contentType);
  const name = `${pluginId ?? 'answer'}-answer.${extensionOf(mediaType)}`;
  const owner = { projectId: caller.projectId, keyId: caller.keyId ?? null, runId };
  const [artifact] = (await store?.keep([{ name, mediaType, bytes }], owner)) ?? [];
  return { artifact: artifact ?? null };
}
