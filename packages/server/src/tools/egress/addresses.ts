import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether connections to an address are allowed. The address is in text form, as `net` and DNS return it; never a name. */
export type AddressCheck = (address: string) => boolean;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** Services that a cloud offers to its own machines at addresses that the registry lists as public. This is Azure's host. */
const machineServices = new Set(['168.63.129.16']);
const mapped = ipaddr.IPv6.parseCIDR('::ffff:0:0/96');
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Whether an address belongs to the public internet. IPv4 inside IPv6 is unwrapped and judged as IPv4 where a network may translate
 * it (`::ffff:0:0/96`, `64:ff9b::/96`). Obsolete and local forms (`::/96`, 6to4, Teredo, `64:ff9b:1::/48`, `::ffff:0:0:0/96`) are
 * always refused. So are zone ids.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== null && isPublic(parsed);
}

/**
 * Creates a check that allows public addresses and those that the operator allows.
 * @param allow addresses or CIDR blocks; throws a RangeError that names the first invalid entry
 */
export function createAddressCheck(allow: readonly string[]): AddressCheck {
  const blocks = allow.map(parseBlock);
  return (address) => {
    const parsed = parseAddress(address);
    return parsed !== null && (isPublic(parsed) || blocks.some((block) => contains(block, parsed)));
  };
}

/**
 * The host of a URL without brackets when it is a literal address, otherwise null. The URL parser has normalised it.
 */
export function literalAddress(hostname: string): string | null {
  const bare = bareHost(hostname);
  return isIP(bare) === 0 ? null : bare;
}

/** Removes the brackets of `[::1]`. Returns other hosts unchanged. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
}

/** null when the text is not an address, or is one with a zone id. */
function parseAddress(text: string): Address | null {
  if (isIP(text) === 0 || text.includes('%')) return null;
  return unwrap(ipaddr.parse(inHexadecimal(text)));
}

/**
 * Rewrites IPv6 addresses that end in IPv4 notation with the URL parser. ipaddr.js reads `::8.8.8.8` as `::ffff:8.8.8.8`, which is
 * another address.
 */
function inHexadecimal(text: string): string {
  return text.includes(':') && text.includes('.') ? bareHost(new URL(`http://[${text}]`).hostname) : text;
}

function unwrap(address: Address): Address {
  if (!isV6(address)) return address;
  if (address.match(mapped) || address.match(translated)) {
    return new ipaddr.IPv4(address.toByteArray().slice(12));
  }
  return address;
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || machineServices.has(address.toString())) return false;
  return !isV6(address) || address.match(globalUnicast);
}

function isV6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

function parseBlock(entry: string): [Address, number] {
  try {
    if (entry.includes('/')) return ipaddr.parseCIDR(entry);
    const address = parseAddress(entry);
    if (address !== null) return [address, isV6(address) ? 128 : 32];
  } catch {
    // The error below covers this case.
  }
  throw new RangeError(`${JSON.stringify(entry)} is neither an address nor a CIDR block`);
}

function contains([network, bits]: [Address, number], address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}
