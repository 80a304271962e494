import type { Requirements } from './requirement.ts';

/** The pages of the console. */
export const consoleRequirements: Requirements = {
  'console.story': {
    promise: 'In the console a person makes a key, brings documents, asks, runs a plugin and revokes the key.',
    source: 'interface §4 (the key "is obtained from the project settings in the service\'s console")',
    tests: [
      '[console] set-up, key, three real documents dropped, records ready, a question, a plugin, its run, the key revoked: 401',
      '[pages] a file of 200 MB cancelled half way leaves nothing behind, and another goes through afterwards',
    ],
  },
  'console.pages': {
    promise:
      'Its pages can be read by everybody, are light, run only their own scripts and call only their own address.',
    source: 'ADR 0040',
    tests: [
      '[pages] of the console, with something on each of them',
      '[pages] axe finds nothing serious on any page in light or dark, nothing breaks the policy or leaves the origin',
      '[pages] the first load of any page is at most 250 KiB compressed',
      '[pages] have no script or style in them, and are made of files that last',
      '[pages] sign-in, set-up without its link and the reference of the plugins address have nothing serious either',
    ],
  },
};
