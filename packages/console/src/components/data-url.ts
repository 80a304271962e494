/**
 * A `data:` URL. The policy of the pages allows no `blob:` URLs: an SVG that is opened from one in a new tab would have
 * the origin of the console.
 */
export function toDataUrl(blob: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(blob);
  return promise;
}
