import type { Requirements } from './requirement.ts';

/** The commands that use a remote service. */
export const commandsRequirements: Requirements = {
  'commands.login': {
    promise: 'A login stores an address and a key for its user alone, and the key goes to this address only.',
    source: 'ADR 0099',
    tests: [
      '[commands] a login checks the address and the key, stores both, and later commands use them',
      '[commands] the key is read from a terminal without echo, and is printed nowhere',
      '[commands] a login at a wrong address or with a wrong key stores nothing and names the remedy',
      'a stored key goes to the addresses it was stored with, and to no other',
      'the login is stored for its user alone, and replaces a link instead of following it',
    ],
  },
  'commands.runs': {
    promise: 'A plugin runs with JSON inputs, and its output is JSON.',
    source: 'ADR 0099',
    tests: ['[commands] a plugin runs with inputs from an option, a file and standard input'],
  },
};
