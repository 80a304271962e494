import type { OutputArtifact } from '@quartermaster/contract';
import type { ArtifactStore, NewArtifact } from '../../artifacts/artifact-store.ts';
import { extensionOf } from '../../artifacts/media-types.ts';
import type { Run } from '../run.ts';
import { replaceAt } from './find-parts.ts';
import { type OutputPart, placeholderOf } from './output-part.ts';
import { joinOutput, type SplitOutput } from './split-output.ts';

export interface StoredOutput {
  readonly output: unknown;
  readonly artifacts: readonly OutputArtifact[];
}

export interface StorePartsOptions {
  readonly run: Run;
  /** Whether the parts were taken out of the output. Otherwise they are copies of what it holds. */
  readonly isSplit: boolean;
}

/**
 * Stores the parts of an output. An output that was split gets placeholders, or its parts back when they cannot be stored: no
 * result is lost, because a third party may have been paid for it.
 */
export async function storeParts(
  store: Pick<ArtifactStore, 'keep'> | undefined,
  split: SplitOutput,
  { run, isSplit }: StorePartsOptions,
): Promise<StoredOutput> {
  const { output, parts } = split;
  if (parts.length === 0) return { output, artifacts: [] };
  const contents = distinct(parts);
  const { projectId, keyId } = run.caller;
  const owner = { projectId, keyId, runId: run.runId };
  const kept = (await store?.keep(contents.map(toArtifact(run.plugin?.id ?? 'output')), owner)) ?? null;
  if (kept === null) return { output: isSplit ? joinOutput(split) : output, artifacts: [] };
  const artifacts = parts.flatMap((part) => {
    const artifact = kept[contents.findIndex((one) => isSame(one, part))];
    return artifact === undefined ? [] : [{ ...artifact, path: part.path }];
  });
  const placeholders = parts.map((part, index) => {
    const { artifact_id: id = '' } = artifacts[index] ?? {};
    return [part.path, placeholderOf(part, id)] as const;
  });
  return { output: isSplit ? replaceAt(output, new Map(placeholders)) : output, artifacts };
}

/** Equal content in several places of an output is one artifact. */
function distinct(parts: readonly OutputPart[]): OutputPart[] {
  return parts.filter((part, index) => parts.findIndex((one) => isSame(one, part)) === index);
}

function isSame(a: OutputPart, b: OutputPart): boolean {
  return a.mediaType === b.mediaType && Buffer.compare(a.bytes, b.bytes) === 0;
}

function toArtifact(pluginId: string) {
  return ({ mediaType, bytes, name }: OutputPart, index: number): NewArtifact => {
    const number = index === 0 ? '' : `-${index + 1}`;
    return { name: name ?? `${pluginId}${number}.${extensionOf(mediaType)}`, mediaType, bytes };
  };
}
