import type { Artifact } from '@quartermaster/contract';
import { readArtifact } from '../../api/artifacts.ts';
import { toDataUrl } from '../data-url.ts';
import { checkDrawing } from './check-drawing.ts';
import { readPictureSize } from './picture-size.ts';

/** The bytes of an artifact as the page shows them. */
export type ShownArtifact =
  | { readonly kind: 'picture'; readonly url: string; readonly title: string }
  /** `unsafe`: too large, or of a kind that a browser should not draw. `gone`: expired or deleted. */
  | { readonly kind: 'unsafe' | 'gone' };

const drawing = 'image/svg+xml';
const pictures = new Set([drawing, 'image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export const pictureLimits = {
  bytes: 16 * 1024 * 1024,
  /** A decoded pixel takes four bytes. */
  pixels: 40_000_000,
} as const;

/** Whether the artifact claims to be a picture. */
export function isPicture({ media_type: type }: Artifact): boolean {
  return pictures.has(type);
}

export async function readPicture(artifact: Artifact): Promise<ShownArtifact> {
  if (artifact.bytes > pictureLimits.bytes) return { kind: 'unsafe' };
  const bytes = await readArtifact(artifact);
  if (bytes === null) return { kind: 'gone' };
  if (artifact.media_type === drawing) {
    const checked = checkDrawing(bytes);
    if (checked === undefined) return { kind: 'unsafe' };
    return { kind: 'picture', url: await toDataUrl(new Blob([bytes], { type: drawing })), title: checked.title };
  }
  const size = readPictureSize(bytes);
  if (size === undefined || size.width * size.height > pictureLimits.pixels) return { kind: 'unsafe' };
  return { kind: 'picture', url: await toDataUrl(new Blob([bytes], { type: size.mediaType })), title: '' };
}
