import type { Requirements } from './requirement.ts';

/** Stored credentials, and the places in which credentials must not appear. */
export const secretsRequirements: Requirements = {
  'profiles.sealed': {
    promise:
      'Credentials of a project are stored encrypted under a name, for its keys and one bundle only, and the encryption keys can be rotated.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[profiles] credentials are stored encrypted under a name and used by this name in execute, verify, the direct call and MCP',
      '[profiles] only keys of its project can use a profile, only for its bundle, and only keys with scope admin can change it',
      '[profiles] with PostgreSQL and no encryption key there are no profiles, and the error names the setting',
      '[profiles] a SQLite store creates its encryption key once, readable by its owner only; a backup contains it if the operator asks',
      '[profiles] a process without the new encryption key responds with 503 and the remedy, and the rotation warns of it',
      '[profiles] with PostgreSQL a process with another encryption key does not start and names the remedy, rotation or forgetting the lost key',
      '[profiles] encryption keys can be rotated while the service runs; without a key that it needs, the service names it and does not start',
      'cannot be decrypted for another context or with another key',
      'cannot be decrypted when any byte is changed',
    ],
  },
  'secrets.errors': {
    promise: 'No error repeats a field that is a secret.',
    source: 'docs/contract.md "Both addresses"',
    tests: ['[secrets] no error repeats a field that the contract marks as a secret, whatever its type or place'],
  },
  'secrets.nowhere': {
    promise:
      'However a run fails, its credentials are in no response, error, log, metric, record, MCP message or file.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[canary] no response, log or stored data contains a credential, however a run fails',
      '[canary] ${name}: no credential is found',
      '[canary] no credential is found in the records of runs, nor in the folders',
      '[canary] the same search finds harmless values in responses, the log and the folders',
      '[canary] the search finds a credential in every encoding, and finds nothing where there is none',
    ],
  },
};
