import { usualMediaType } from '../../artifacts/media-types.ts';
import { hasSignature, mayBeInArchive, mediaTypeOf } from '../output-parts/signatures.ts';

/** Formats that others are stored in: a Word document is a ZIP archive. */
const containers = new Set(['application/zip', 'application/gzip']);

/** Types of one container format (ISO/IEC 14496-12), whose first bytes do not tell them apart for certain. */
const isoMedia = new Set(['audio/mp4', 'video/mp4', 'video/quicktime', 'image/heic', 'image/heif']);

/**
 * Returns the media type of bytes that differ from what a field requires; undefined when they may be what it requires. A type
 * whose first bytes are not known cannot be checked.
 * @param wanted a media type, or a range such as `image/*`
 */
export function findOtherType(wanted: string, bytes: Buffer): string | undefined {
  const type = usualMediaType(wanted.split(';', 1)[0]?.trim() ?? '');
  const found = mediaTypeOf(bytes);
  if (type === 'application/octet-stream' || type === '*/*' || type === '') return undefined;
  const isRange = type.endsWith('/*');
  if (found === undefined) return !isRange && hasSignature(type) ? 'bytes of another type' : undefined;
  if (isRange ? found.startsWith(type.slice(0, -1)) : found === type) return undefined;
  if (isoMedia.has(found) && isoMedia.has(type)) return undefined;
  const mayContain = containers.has(found) && !isRange;
  return mayContain && (mayBeInArchive(type) || !hasSignature(type)) ? undefined : found;
}
