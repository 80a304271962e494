import type { Requirements } from './requirement.ts';

/** Projects apart, and their keys. */
export const keysRequirements: Requirements = {
  'projects.apart': {
    promise: "One project never sees another's object.",
    source: 'docs/contract.md "Keys"; docs/contract.md "Isolation"',
    tests: [
      '[isolated] one project sees nothing of another',
      'shows a project nothing of another, and does not know its cursors',
      'keeps collections apart: neither matches nor scores tell about another one',
    ],
  },
  'keys.alike': {
    promise: 'Missing, malformed, unknown, revoked and expired keys get one answer; only a hash is stored.',
    source: 'docs/contract.md "Keys"',
    tests: [
      'missing, malformed, unknown, revoked and expired keys get one and the same answer',
      'only a hash of a key is stored, and a key prints as a secret',
      'a rotated key works until the overlap ends, the new one at once, with the same scopes',
    ],
  },
  'keys.first': {
    promise: 'A fresh installation has no default secret: one project and one key, printed once, in a 0600 file.',
    source: 'docs/contract.md "Keys"',
    tests: [
      '[keys] the first key is printed once and kept in a file for its owner only; keys are managed by command',
      'of processes that start at once on one database, one makes the first key',
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
  'keys.managed': {
    promise: 'Keys are made with scopes and expiry, shown once, rotated and revoked over HTTP.',
    source: 'docs/contract.md "Authentication"; docs/contract.md "Keys"',
    tests: [
      '[keys] a key is made with scopes and expiry, shown once, rotated and revoked, by an administrator or a key of scope admin',
      '[keys] a key of scope admin manages its own project and gives only scopes that it has; others manage nothing',
    ],
  },
};
