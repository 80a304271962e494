import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import { extensionOf } from '../../artifacts/media-types.ts';
import type { KeptAnswer } from '../outcome.ts';
import { mediaTypeOfAnswer } from '../output-parts/detect-media.ts';
import type { Run } from '../run.ts';
import type { ReceivedAnswer } from './large-answers.ts';
import type { UnusedAnswer } from './unused-answer.ts';

/** Stores an answer that a run could not use as an artifact of the run, because the third party may have been paid for it. ADR 0097. */
export async function keepAnswer(
  store: Pick<ArtifactStore, 'keep'> | undefined,
  { contentType, body, isEarlier }: UnusedAnswer,
  run: Run,
): Promise<KeptAnswer> {
  // Again, because the run may have received access tokens after this answer.
  const bytes = run.policy.egress.redactor.bytes(body);
  const content = { ...describe(bytes, contentType, run), bytes };
  const [artifact] = (await store?.keep([content], ownerOf(run), { usesReserve: true })) ?? [];
  return { artifact: artifact ?? null, isComplete: true, ...(isEarlier === true ? { isEarlier } : {}) };
}

/** Stores an answer that was received because it is larger than the bundle allows. */
export async function keepLargeAnswer({ contentType, bytes }: ReceivedAnswer, run: Run): Promise<KeptAnswer> {
  if (bytes === null) return { artifact: null, isComplete: false };
  const artifact = await bytes.keep(describe(bytes.head, contentType, run), ownerOf(run));
  return { artifact, isComplete: bytes.isComplete };
}

function describe(head: Buffer, contentType: string | undefined, { plugin }: Run) {
  const mediaType = mediaTypeOfAnswer(head, contentType);
  return { name: `${plugin?.id ?? 'answer'}-answer.${extensionOf(mediaType)}`, mediaType };
}

function ownerOf({ caller: { projectId, keyId }, runId }: Run) {
  return { projectId, keyId, runId };
}
