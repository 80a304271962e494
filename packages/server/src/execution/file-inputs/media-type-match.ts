import { hasSignature, mediaTypeOf } from '../output-parts/detect-media.ts';

/** Formats that others are stored in: a Word document is a ZIP archive. */
const containers = new Set(['application/zip', 'application/gzip']);

/**
 * Returns the media type of bytes that differ from what a field requires; undefined when they may be what it requires. A type
 * whose first bytes are not known cannot be checked.
 * @param wanted a media type, or a range such as `image/*`
 */
export function findOtherType(wanted: string, bytes: Buffer): string | undefined {
  const type = wanted.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  const found = mediaTypeOf(bytes);
  if (type === 'application/octet-stream' || type === '*/*' || type === '') return undefined;
  const isRange = type.endsWith('/*');
  if (found === undefined) return !isRange && hasSignature(type) ? 'bytes of another type' : undefined;
  if (isRange ? found.startsWith(type.slice(0, -1)) : found === type) return undefined;
  return containers.has(found) && !isRange && !hasSignature(type) ? undefined : found;
}
