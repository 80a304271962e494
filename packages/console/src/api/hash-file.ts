/** Larger files are not read into memory. */
const maxBytes = 64 * 1024 * 1024;

/** Returns the SHA-256 of a file in hexadecimal; null for large files, and on pages that have no `crypto.subtle`: those without HTTPS. */
export async function hashFile(file: File): Promise<string | null> {
  if (file.size > maxBytes || globalThis.crypto.subtle === undefined) return null;
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return new Uint8Array(digest).toHex();
}
