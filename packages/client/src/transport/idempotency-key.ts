/** Returns a random key. Pages without HTTPS have no `crypto.randomUUID`. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `qm-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
