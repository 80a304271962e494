import type { Requirements } from './requirement.ts';

/** The requests of the broker and their destinations. */
export const egressRequirements: Requirements = {
  'egress.retried': {
    promise: 'Only idempotent outbound calls are retried, after the delay that the third party requests.',
    source: 'ADR 0044',
    tests: [
      'a read that a busy third party refuses is repeated after the requested wait',
      'a read is repeated at most twice, and not at all when the wait would be too long',
      'a write is sent once, unless its plugin is idempotent, and other statuses are not retried',
      'a caller that disconnects does not wait for another attempt',
    ],
  },
  'egress.public': {
    promise: 'No byte is sent to an address that the policy forbids, on any hop.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      'no spelling of a forbidden address reaches a trap, whether dialled, redirected to or resolved by DNS',
      'refuses ${literals.length} spellings of forbidden addresses, directly and behind each kind of redirect',
      'refuses a name that resolves to ${name}, directly and behind a redirect',
      'refuses ${undeclared.length} addresses whose scheme, host or port is not declared, without a lookup',
    ],
  },
  'egress.operator': {
    promise: 'A bundle that leaves its hosts to the operator calls only those, and sends credentials to one of them.',
    source: 'ADR 0009',
    tests: [
      'requests are refused until the operator allows hosts, and the error says so',
      'only hosts that the operator allows are reached, whatever input and redirects contain',
      'credentials are sent only to the host to which they belong',
    ],
  },
  'egress.injected': {
    promise:
      'The broker inserts credentials, signs requests and gets access tokens as the bundle declares, again on every hop.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      'signs the published example ${name} like AWS',
      'has a signature over what the upstream receives',
      'matches the published examples',
      'has a signature over everything that is sent, and replaces a signature in the request',
      'is a member of the body, and replaces that of the request',
      'is requested with the credentials of the client and sent; neither is returned',
      'that was cached and is rejected is replaced by a new one, once',
      'that rejects the credentials results in an error that does not repeat them',
    ],
  },
  'egress.secret': {
    promise: 'A credential appears in no result, error, log or metric, and goes to no other origin.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      'to another declared origin carries no credential, cookie or authorization',
      'that repeats the credential in its body or headers is returned without it',
      'that repeats the credential in ${charset} is returned without it, in UTF-8',
      'always removes a secret of eight characters or more, whatever surrounds it',
    ],
  },
};
