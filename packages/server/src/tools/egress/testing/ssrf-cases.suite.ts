/** Hosts that a request must not reach, in every known spelling. */

/**
 * One or more addresses of each block that is not the public internet (IANA's special-purpose registries, RFC 6890).
 */
const addresses = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.254', '100.64.0.1', '100.127.255.254', '127.0.0.1', '127.0.0.53'],
  ...['127.255.255.254', '169.254.0.1', '169.254.169.254', '169.254.170.2', '172.16.0.1', '172.31.255.254'],
  ...['192.0.0.1', '192.0.0.170', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.254', '198.18.0.1'],
  ...['198.19.255.254', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
];

const addresses6 = [
  ...`:: ::1 ::2 0:0:0:0:0:0:0:1 100::1 64:ff9b:1::1 2001::1 2001:2::1 2001:10::1 2001:20::1`.split(/\s+/),
  ...['2001:db8::1', '2002::1', '3fff::1', '5f00::1', 'fc00::1', 'fd00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  ...['fe80::1', 'fe80::a9fe:a9fe', 'febf::1', 'fec0::1', 'ff01::1', 'ff02::1', 'ff05::2', '4000::1', '8000::1'],
];

type Spelling = (parts: readonly [number, number, number, number]) => string;

const hex = (value: number, digits = 1): string => value.toString(16).padStart(digits, '0');
const number = ([a, b, c, d]: readonly number[]): number =>
  ((a ?? 0) * 256 + (b ?? 0)) * 65_536 + (c ?? 0) * 256 + (d ?? 0);
const words = ([a, b, c, d]: readonly [number, number, number, number]): string =>
  `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
const inverted = (parts: readonly number[]) => parts.map((it) => 255 - it) as [number, number, number, number];
const full = (text: string): string => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));

const spellings: Readonly<Record<string, Spelling>> = {
  dotted: (parts) => parts.join('.'),
  'with a dot behind': (parts) => `${parts.join('.')}.`,
  'as one number': (parts) => String(number(parts)),
  'as one hexadecimal number': (parts) => `0x${hex(number(parts))}`,
  'as one octal number': (parts) => `0${number(parts).toString(8)}`,
  'in two parts': ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  'in three parts': ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  hexadecimal: (parts) => parts.map((it) => `0x${hex(it)}`).join('.'),
  octal: (parts) => parts.map((it) => `0${it.toString(8)}`).join('.'),
  mixed: ([a, b, c, d]) => `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
  'in full-width digits': (parts) => full(parts.join('.')),
  'with ideographic stops': (parts) => parts.join('。'),
  percent: (parts) => parts.join('.').replace(/\d/g, (digit) => `%3${digit}`),
  'mapped into IPv6': (parts) => `[::ffff:${parts.join('.')}]`,
  'mapped into IPv6, hexadecimal': (parts) => `[::ffff:${words(parts)}]`,
  'mapped into IPv6, in full': (parts) => `[0:0:0:0:0:ffff:${words(parts)}]`,
  'compatible with IPv6': (parts) => `[::${words(parts)}]`,
  translated: (parts) => `[::ffff:0:${words(parts)}]`,
  'by NAT64': (parts) => `[64:ff9b::${words(parts)}]`,
  'by local NAT64': (parts) => `[64:ff9b:1::${words(parts)}]`,
  'by 6to4': (parts) => `[2002:${words(parts)}::1]`,
  'by Teredo': (parts) => `[2001:0:4136:e378:8000:63bf:${words(inverted(parts))}]`,
  'by ISATAP': (parts) => `[fe80::5efe:${words(parts)}]`,
};

const names = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'loc%61lhost', 'ｌocalhost', 'ip6-localhost', 'foo.localhost'],
  ...['metadata.google.internal', 'metadata', 'kubernetes.default.svc', 'host.docker.internal', 'intranet'],
];

const tricks = [
  ...['good.example.com@127.0.0.1', 'good.example.com:80@127.0.0.1', '127.0.0.1#@good.example.com', '127.0.0.1?@good'],
  ...['127.0.0.1\\@good.example.com', '127.0.0.1%2f', '127.0.0.1%09', '127.0.0.1\t', '\t127.0.0.1', '127.0.\n0.1'],
  ...`[::1%25lo] [fe80::1%25lo] [fe80::1%lo] [::ffff:127.0.0.1%25lo] 127.0.0.1%00 127.0.0.1.. .127.0.0.1`.split(/\s+/),
  ...['127.0.0.1 ', ...`127.0.0.1:80:80 0x7f.0.0.0x1 0x7F000001. 00000177.1 4294967295 4294967296 -1 1e9`.split(/\s+/)],
  ...['①②⑦.⓪.⓪.①', '１２７.1', '127.0.0.①', '[::①]', '127。1', '127．1', '127｡1', '[0:0:0:0:0:ffff:127.0.0.1]'],
];

export interface SsrfCase {
  readonly name: string;
  /** The host as written in a URL. It may be invalid. */
  readonly host: string;
}

/** Returns each spelling of each address once. */
export function ssrfCases(): SsrfCase[] {
  const hosts = new Map<string, string>();
  const add = (host: string, name: string): void => void (hosts.has(host) || hosts.set(host, name));
  for (const address of addresses) {
    // four numbers from the list above
    const parts = address.split('.').map(Number) as [number, number, number, number];
    for (const [name, spell] of Object.entries(spellings)) add(spell(parts), `${address} ${name}`);
  }
  for (const address of addresses6) add(`[${address}]`, address);
  for (const name of [...names, ...tricks]) add(name, JSON.stringify(name));
  return [...hosts].map(([host, name]) => ({ name, host }));
}
