import { isIPv6 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** Limits the list, because a machine with containers has dozens of addresses. */
const maxUrls = 4;

/**
 * Lists the URLs that reach a server. For a server on one address, this is the URL of that address. For a server on all
 * addresses, those of the network come first and the loopback address last. Link-local addresses are omitted, because a
 * browser cannot open them.
 */
export function listReachableUrls(
  host: string,
  port: number,
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): [string, ...string[]] {
  if (host !== '0.0.0.0' && host !== '::') return [toUrl(host, port)];
  const addresses = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .filter(({ internal, address, family }) => {
      return !internal && !/^(fe80:|169\.254\.)/i.test(address) && (host === '::' || family === 'IPv4');
    })
    .sort((a, b) => a.family.localeCompare(b.family))
    .slice(0, maxUrls - 1)
    .map(({ address }) => toUrl(address, port));
  const [first, ...others] = [...addresses, toUrl('127.0.0.1', port)];
  return [first ?? toUrl('127.0.0.1', port), ...others];
}

function toUrl(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
