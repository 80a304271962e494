import type { Requirements } from './requirement.ts';

/** The requests of the broker and their destinations. */
export const egressRequirements: Requirements = {
  'egress.retried': {
    promise: 'Outbound calls are sent again only where twice is as good as once, as late as the third party asks for.',
    source: 'ADR 0044',
    tests: [
      'a read that the third party is too busy for is sent again, as late as it asks for',
      'it is given up after two more tries, and at once where the wait would be too long',
      'what writes is sent once, unless its plugin says that twice is as good; other answers are answers',
      'a caller who goes does not wait for another try',
    ],
  },
  'egress.public': {
    promise: 'No outbound byte to an address the policy forbids, on every hop.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      'of every spelling of a forbidden address, dialled, redirected to or named by DNS, none reaches a trap',
      'refuses ${literals.length} spellings of forbidden addresses, directly and behind each kind of redirect',
      'refuses a name that leads to ${name}, directly and behind a redirect',
      'refuses ${undeclared.length} addresses whose scheme, host or port is not declared, without a lookup',
    ],
  },
  'egress.operator': {
    promise: 'A bundle that leaves its hosts to the operator calls only those, and sends credentials to one of them.',
    source: 'ADR 0048',
    tests: [
      'requests go nowhere until the operator says where, and the answer says so',
      'only hosts that the operator allows are reached, whatever input and redirects say',
      'credentials go to the host they are for, and nowhere else',
    ],
  },
  'egress.injected': {
    promise:
      'The broker places credentials, signs requests and gets access tokens as the bundle declares, on every hop anew.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      'signs the published example ${name} as AWS does',
      'carries a signature over what the other side receives',
      'is that of the published examples',
      'carries it over everything that is sent, and nothing of its own that the request claims',
      'is a member of it, over what the request says there',
      'is got with the credentials of the client, and sent; neither comes back',
      'that was got earlier and is refused is replaced by a new one, once',
      'that refuses the credentials says so without repeating them',
    ],
  },
  'egress.secret': {
    promise: 'A credential appears in no result, error, log or metric, and goes to no other origin.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      'to another declared origin carries no credential, cookie or authorization',
      'that repeats the credential in its body or headers comes back without it',
      'that repeats the credential in ${charset} comes back without it, in UTF-8',
      'never leaves a secret of eight characters or more, whatever surrounds it',
    ],
  },
};
