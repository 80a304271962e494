/** The media types that artifacts are stored and served with, and the extensions of their names. */
const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/json': 'json',
  'text/plain': 'txt',
};

export const anyBytes = 'application/octet-stream';

/** Returns the type if it is one of those above, otherwise `application/octet-stream`: a browser interprets no other type. */
export function safeMediaType(mediaType: string): string {
  const type = mediaType.toLowerCase();
  if (type === 'image/jpg') return 'image/jpeg';
  if (type === 'audio/mp3') return 'audio/mpeg';
  if (type === 'audio/x-wav' || type === 'audio/wave') return 'audio/wav';
  return Object.hasOwn(extensions, type) ? type : anyBytes;
}

/** The extension of a name without its dot: `bin` for other types. */
export function extensionOf(mediaType: string): string {
  return extensions[mediaType] ?? 'bin';
}
