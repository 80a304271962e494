import type { Requirements } from './requirement.ts';

/** Keys, and the separation of projects. */
export const keysRequirements: Requirements = {
  'projects.apart': {
    promise: "One project never sees another's object.",
    source: 'docs/contract.md "Keys"; docs/contract.md "Isolation"',
    tests: [
      '[isolated] one project sees nothing of another',
      'returns no files of another project and refuses its cursors',
      'separates collections: neither matches nor scores depend on another collection',
    ],
  },
  'keys.exposure': {
    promise:
      'The plugins address works without a key only for programs of this machine; pages of other sites never call it.',
    source: 'docs/contract.md "Keys"; ADR 0073',
    tests: [
      '[exposure] behind a proxy with a public URL, the plugins address requires a key on every path but the probes',
      '[exposure] a loopback public URL and an explicit PLUGINS_KEY=off leave the plugins address without a key',
      '[exposure] without a key, every operation refuses a foreign Host and a foreign Origin; the probes answer',
      '[exposure] pages of the origins in CORS_ORIGINS call both addresses with a key, never with cookies; others get no permission',
      '[exposure] the client address counts from trusted proxies only: it throttles sign-ins and stands in the log',
      '200 JSON bodies that arrive too slowly are refused with 408, including those that no handler reads',
    ],
  },
  'keys.tools': {
    promise: 'A key runs only the plugins that it names, over every way to run one, and grants no others.',
    source: 'docs/contract.md "Keys"',
    tests: [
      '[key-tools] a key runs the plugins that it names and no other, over every way to run one',
      '[key-tools] the lists, searches and calls of MCP have only the plugins of the key, at both addresses',
      '[key-tools] no key creates or rotates a key that may run more than itself, and the log names the tools',
      '[key-tools] the command creates a key with tools and lists them',
      'a key keeps its tools, and a key that it creates or rotates has no others',
    ],
  },
  'keys.alike': {
    promise: 'Missing, malformed, unknown, revoked and expired keys get one answer; only a hash is stored.',
    source: 'docs/contract.md "Keys"',
    tests: [
      'missing, malformed, unknown, revoked and expired keys get the same response',
      'only a hash of a key is stored, and a key prints as a secret',
      'a rotated key works until the overlap ends, and the new one works at once with the same scopes',
    ],
  },
  'keys.first': {
    promise:
      'A fresh installation has no default secret: one project and one key in a 0600 file, printed on terminals only and until its first use.',
    source: 'docs/contract.md "Keys"',
    tests: [
      '[start] a first start prints the key and the set-up link on a terminal',
      '[start] without a terminal, as in a container or a unit of systemd, a first start names the files only',
      '[start] after a failed first start, the next starts show the first key until a request uses it',
      '[keys] the first key is printed once and kept in a file for its owner only; keys are managed by command',
      'when several processes start on one database at the same time, one creates the first key',
    ],
  },
  'keys.plugins': {
    promise: 'The plugins address takes no key on loopback, asks for one elsewhere, and checks one that is sent.',
    source: 'docs/contract.md "Keys"; docs/contract.md "Authentication"',
    tests: [
      '[keys] the files address always asks for a key; the plugins address does not on loopback, but checks one that is sent',
      '[keys] bound to another address than loopback, the plugins address asks for a key',
    ],
  },
  'keys.scopes': {
    promise: 'A key has the scopes that were asked for: metrics alone reads the metrics, admin is never a default.',
    source: 'docs/contract.md "Keys"',
    tests: [
      '[keys] a key of scope metrics reads the metrics of both addresses and nothing else',
      '[keys] a new key has the scopes files, collections and plugins unless others are named',
      '[keys] a key of scope admin that was created before the scope metrics reads the metrics',
    ],
  },
  'keys.descendants': {
    promise: 'A leaked key leaves no way in: the keys that it created end with it if the operator says so.',
    source: 'docs/contract.md "Keys"',
    tests: [
      'a key that an expiring key creates or rotates ends no later than that key',
      'revoking a key with its descendants revokes the keys that it created, directly or indirectly',
      'a key that is revoked while it creates another one leaves no usable key behind',
      '[keys] a key names its maker, and the API and the command revoke it with its descendants',
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
    promise: 'Keys are made with scopes and expiry, shown once, rotated and revoked over HTTP.',
    source: 'docs/contract.md "Authentication"; docs/contract.md "Keys"',
    tests: [
      '[keys] a key is made with scopes and expiry, shown once, rotated and revoked, by an administrator or a key of scope admin',
      '[keys] a key of scope admin manages its own project and gives only scopes that it has; others manage nothing',
    ],
  },
};
