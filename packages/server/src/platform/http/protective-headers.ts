/**
 * Headers of every response; a route with pages adds more. They forbid framing, sniffing and reading from other
 * origins. The names are in lower case, because Fastify would otherwise convert them for each response, which takes a
 * third of the time to set them.
 */
const always = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * @param overHttps whether clients use HTTPS. Browsers are then instructed to use HTTPS for this host, without its
 * subdomains.
 */
export function protectiveHeaders(overHttps: boolean): Readonly<Record<string, string>> {
  return overHttps ? { ...always, 'strict-transport-security': 'max-age=31536000' } : always;
}
