import type { Requirements } from './requirement.ts';

/** Keys and the isolation of projects. */
export const keysRequirements: Requirements = {
  'projects.apart': {
    promise: "One project never sees another's object.",
    source: 'docs/contract.md "Keys"; docs/contract.md "Isolation"',
    tests: [
      '[isolated] no project can see data of another one',
      'a list contains no files of another project, even if the cursor is one of its files',
      'separates collections: neither matches nor scores depend on another collection',
    ],
  },
  'keys.exposure': {
    promise:
      'The plugins address works without a key only for programs of this machine; pages of other sites never call it.',
    source: 'docs/contract.md "Keys"; ADR 0010',
    tests: [
      '[exposure] behind a proxy with a public URL, the plugins address requires a key on every path except the probes',
      '[exposure] a loopback public URL and an explicit PLUGINS_KEY=off leave the plugins address without a key',
      '[exposure] without a key, every operation except the probes refuses a foreign Host and a foreign Origin',
      '[exposure] pages of the origins in CORS_ORIGINS call both addresses with a key, never with cookies; others get no permission',
      '[exposure] the service takes the client address from trusted proxies only, and uses it to throttle sign-ins and in the log',
      '200 JSON bodies that arrive too slowly are refused with 408, including those that no handler reads',
    ],
  },
  'keys.tools': {
    promise: 'A key runs only the plugins that it names, over every API that runs plugins, and grants no others.',
    source: 'docs/contract.md "Keys"',
    tests: [
      '[key-tools] a key runs only the plugins that it names, over every API that runs plugins',
      '[key-tools] lists, searches and calls over MCP offer only the plugins of the key, at both addresses',
      '[key-tools] a key cannot create or rotate a key with more tools than its own, and the log names the tools',
      '[key-tools] the command creates a key with tools and lists them',
      '[console] a key can be limited to bundles and plugins, and the list of keys shows the limit in both languages',
      'a key keeps its tools, and a key that it creates or rotates has no others',
    ],
  },
  'keys.alike': {
    promise: 'Missing, malformed, unknown, revoked and expired keys get the same response; only a hash is stored.',
    source: 'docs/contract.md "Keys"',
    tests: [
      'missing, malformed, unknown, revoked and expired keys get the same response',
      'only a hash of a key is stored, and a key prints as a secret',
      'a rotated key works until the overlap ends, and the new one works immediately with the same scopes',
    ],
  },
  'keys.first': {
    promise:
      'A fresh installation has no default secret: one project and one key in a 0600 file, printed on terminals only and until its first use.',
    source: 'docs/contract.md "Keys"',
    tests: [
      '[start] a first start prints the key and the setup link on a terminal',
      '[start] without a terminal, such as in a container or a systemd unit, a first start prints only the names of the files',
      '[start] after a failed first start, the next starts show the first key until a request uses it',
      '[keys] the first key is printed once and stored in a file that only its owner can read, and commands manage keys',
      'when several processes start on one database at the same time, one creates the first key',
    ],
  },
  'keys.plugins': {
    promise:
      'The plugins address needs no key on loopback, requires one elsewhere, and always checks a key that is sent.',
    source: 'docs/contract.md "Keys"; docs/contract.md "Authentication"',
    tests: [
      '[keys] the files address always requires a key; the plugins address on loopback does not, but checks a key that is sent',
      '[keys] the plugins address requires a key when it is bound to an address other than loopback',
    ],
  },
  'keys.scopes': {
    promise:
      'A key has only the requested scopes; metrics is enough to read the metrics, and admin is never a default.',
    source: 'docs/contract.md "Keys"',
    tests: [
      '[keys] a key with scope metrics can read the metrics of both addresses and nothing else',
      '[keys] a new key has the scopes files, collections and plugins unless others are named',
      '[keys] a key with scope admin from a version without the scope metrics can read the metrics',
    ],
  },
  'keys.descendants': {
    promise: 'A leaked key can be revoked together with all keys that it created.',
    source: 'docs/contract.md "Keys"',
    tests: [
      'a key that an expiring key creates or rotates ends no later than that key',
      'revoking a key with its descendants revokes the keys that it created, directly or indirectly',
      'a key that is revoked while it creates another one leaves no usable key behind',
      '[keys] a key names the key that created it, and the API and the command line revoke a key with its descendants',
      '[console] revoking a key that may create keys offers to revoke those as well',
    ],
  },
  'keys.streams': {
    promise: 'A stream ends with the key or session that opened it.',
    source: 'docs/contract.md "Keys"',
    tests: [
      '[streams] streams of runs, records and MCP end with their key, other streams stay open',
      '[streams] on PostgreSQL streams end with a key that another process revokes, and with their session',
    ],
  },
  'keys.managed': {
    promise: 'Keys are created with scopes and an expiry, shown once, rotated and revoked over HTTP.',
    source: 'docs/contract.md "Authentication"; docs/contract.md "Keys"',
    tests: [
      '[keys] an administrator, or a key with scope admin, creates a key with scopes and an expiry, sees it once, rotates it and revokes it',
      '[keys] a key with scope admin manages only its own project and grants only its own scopes, and other keys manage nothing',
    ],
  },
};
