import { hash } from 'node:crypto';
import type { ContentBlock } from '@modelcontextprotocol/server';
import { type OutputPart, outputPartLimits } from '../execution/output-parts/output-part.ts';

export interface UnstoredMedia {
  /** The media that no other content holds. */
  readonly blocks: readonly ContentBlock[];
  readonly count: number;
  /** @returns what the output holds in place of the value */
  add(part: OutputPart, isShown: boolean): string;
}

/**
 * Media of an output that have no artifact. A text such as an SVG picture stays in the output. Base64 becomes an embedded
 * resource, so that the result holds it once and the text of the result does not hold it.
 */
export function createUnstoredMedia(): UnstoredMedia {
  const blocks: ContentBlock[] = [];
  const uris = new Map<string, string>();
  let count = 0;

  function embed({ path, mediaType, bytes }: OutputPart): string {
    const digest = hash('sha256', bytes);
    const known = uris.get(digest);
    if (known !== undefined) return known;
    const uri = `output:${path.split('/').map(encodeURIComponent).join('/')}`;
    uris.set(digest, uri);
    const blob = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    blocks.push({ type: 'resource', resource: { uri, mimeType: mediaType, blob } });
    return uri;
  }

  return {
    blocks,
    get count() {
      return count;
    },
    add(part, isShown) {
      count += 1;
      if (part.form === 'text') return Buffer.from(part.bytes).toString();
      return part.prefix + (isShown ? `(${part.mediaType}, ${part.bytes.length} bytes)` : embed(part));
    },
  };
}

/** Tells a model why media have no link. */
export function describeUnstored(count: number, context: { storesArtifacts: boolean; hasArtifacts: boolean }): string {
  const what = count === 1 ? 'One picture or document of this output was' : `${count} media of this output were`;
  return `${what} not stored, because ${reasonOf(context)}. This result holds the bytes; there is no link to them. Do not run the plugin again.`;
}

function reasonOf({ storesArtifacts, hasArtifacts }: { storesArtifacts: boolean; hasArtifacts: boolean }): string {
  if (!storesArtifacts) return 'this service stores no artifacts';
  if (hasArtifacts) return `at most ${outputPartLimits.parts} of one output are stored`;
  return 'a limit on the files or artifacts of the project is reached, or the disk could not be written';
}
