/** Documents that are ZIP archives. The first three are Word, Excel and PowerPoint, in this order. */
export const officeTypes = [
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.oasis.opendocument.text',
  'application/vnd.oasis.opendocument.spreadsheet',
  'application/vnd.oasis.opendocument.presentation',
  'application/epub+zip',
] as const;
const officeExtensions = ['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'epub'] as const;

/** The media types that artifacts are stored and served with, and the extensions of their names. */
const extensions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(officeTypes.map((type, index) => [type, officeExtensions[index] ?? 'zip'])),
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/json': 'json',
  'text/plain': 'txt',
};

/** Other names of these types. */
const otherNames: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/x-ms-bmp': 'image/bmp',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'audio/x-m4a': 'audio/mp4',
};

export const anyBytes = 'application/octet-stream';

/** Returns the name of a type that is used here: in lower case, and the registered one of several. */
export function usualMediaType(mediaType: string): string {
  const type = mediaType.toLowerCase();
  return Object.hasOwn(otherNames, type) ? (otherNames[type] ?? type) : type;
}

/** Returns the type if it is one of those above, otherwise `application/octet-stream`: a browser interprets no other type. */
export function safeMediaType(mediaType: string): string {
  const type = usualMediaType(mediaType);
  return Object.hasOwn(extensions, type) ? type : anyBytes;
}

/** The extension of a name without its dot: `bin` for other types. */
export function extensionOf(mediaType: string): string {
  return extensions[mediaType] ?? 'bin';
}
