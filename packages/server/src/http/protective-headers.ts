/**
 * For every answer; a route that sends pages says more. Nothing here is to be framed, sniffed or read from elsewhere.
 * In small letters, as Fastify would make them for each answer: a third of the time that setting them takes.
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

/** @param overHttps whether clients come by HTTPS: browsers are then told to stay there, for this host and not for those below it. */
export function protectiveHeaders(overHttps: boolean): Readonly<Record<string, string>> {
  return overHttps ? { ...always, 'strict-transport-security': 'max-age=31536000' } : always;
}
