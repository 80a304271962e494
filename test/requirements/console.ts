import type { Requirements } from './requirement.ts';

/** The pages of the console. */
export const consoleRequirements: Requirements = {
  'console.story': {
    promise: 'In the console a person makes a key, brings documents, asks, runs a plugin and revokes the key.',
    source: 'docs/contract.md "Authentication"',
    tests: [
      '[console] set-up, key, three documents dropped, records ready, a question, a plugin, its run, the key revoked: 401',
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
  'console.tools': {
    promise:
      'In the console credential profiles are made and never shown; plugins run with them and in the background, where they are followed and stopped; collections are embedded anew.',
    source: 'ADR 0027; ADR 0029; ADR 0039',
    tests: [
      '[console] what a catalogue and a collection offer beyond the first steps',
      '[console] a stored profile replaces typed credentials',
      '[console] a profile is made, replaced and deleted on its page, and what was entered is never shown again',
      '[console] a run in the background is followed, and gives its result',
      '[console] a run in the background is stopped: its plugin, and its calls',
      '[console] a collection is embedded anew',
    ],
  },
  'console.language': {
    promise: 'The console speaks English and Chinese, and so does what the service says, as far as its codes tell it.',
    source: 'ADR 0040',
    tests: [
      '[console] what the service says of errors and rows is said in Chinese',
      'every code of the service, and no other, has its sentence in the Chinese console',
    ],
  },
};
