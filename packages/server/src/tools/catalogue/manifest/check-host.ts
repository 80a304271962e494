/** Returns why a URL's origin is not allowed; null when it is one of the bundle's `hosts`. */
export function describeHostError(origin: string, hosts: readonly string[] | 'operator'): string | null {
  if (!/^https?:\/\/[^\s\\/?#]+$/.test(origin) || !URL.canParse(origin)) {
    return `${JSON.stringify(origin)} is not a valid origin.`;
  }
  if (hosts === 'operator') return 'The operator chooses the hosts of this bundle, so only a handler can call them.';
  const { host, port, protocol } = new URL(origin);
  const withPort = port === '' ? `${host}:${protocol === 'https:' ? 443 : 80}` : host;
  if (hosts.includes(host) || hosts.includes(withPort)) return null;
  return `The host ${host} is not one of the bundle's "hosts" (${hosts.join(', ') || 'none'}).`;
}
