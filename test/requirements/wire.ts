import type { Requirements } from './requirement.ts';

/** What both addresses share. */
export const wireRequirements: Requirements = {
  'wire.envelope': {
    promise: 'Every error, on every path, is the envelope with a request id; RFC 9457 for those who ask.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      'unknown paths are 404 and unknown methods 405, in the envelope',
      'a field that is wrong is named with what was found and what is expected',
      'what is not HTTP gets the envelope and the protective headers too',
      'errors are RFC 9457 for those who ask',
      'a defect is answered without its text and logged with it',
    ],
  },
  'wire.apart': {
    promise: "Neither address answers the other's paths.",
    source: 'docs/contract.md "Both addresses"',
    tests: ['[separate] neither address answers the paths of the other'],
  },
};
