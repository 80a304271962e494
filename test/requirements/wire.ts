import type { Requirements } from './requirement.ts';

/** The behaviour that both addresses share. */
export const wireRequirements: Requirements = {
  'wire.envelope': {
    promise: 'Every error on every path has the envelope with a request id, or the form of RFC 9457 on request.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      'unknown paths result in 404 and unknown methods in 405, in the envelope',
      'an invalid field is named in the error with the value found and the value expected',
      'input that is not HTTP gets the envelope and the protective headers too',
      'errors use RFC 9457 for clients that accept it',
      'the response to a defect omits the error text, and the log contains it',
    ],
  },
  'wire.cursors': {
    promise: 'A list continues after an object that was deleted, and refuses a cursor that is not an id.',
    source: 'docs/contract.md "Both addresses"',
    tests: ['[lists] each list continues after an id that names nothing, and refuses a text that is no id'],
  },
  'wire.unknown-members': {
    promise: 'Unknown members at the top level are ignored and named; those of our own objects are refused.',
    source: 'docs/contract.md "Both addresses"',
    tests: [
      '[unknown-members] every call with a body names the unknown members that it ignored',
      '[unknown-members] an upload names the unknown fields of its form, also when it is repeated',
      '[unknown-members] unknown members of our own objects are refused, those of `text_splitter` are not',
    ],
  },
  'wire.apart': {
    promise: "Neither address answers the other's paths.",
    source: 'docs/contract.md "Both addresses"',
    tests: ['[separate] neither address serves the paths of the other'],
  },
};
