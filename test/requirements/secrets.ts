import type { Requirements } from './requirement.ts';

/** Stored credentials, and the places in which credentials must not appear. */
export const secretsRequirements: Requirements = {
  'profiles.sealed': {
    promise:
      'Credentials of a project are kept sealed under a name, open for its keys and its bundle only, with keys that rotate.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[profiles] credentials are kept sealed under a name, and used by it in execute, verify, the direct call and MCP',
      '[profiles] a profile is for keys of its project and for its bundle; only a key of scope admin changes it',
      '[profiles] with PostgreSQL and without a key there are none, and the answer names the setting',
      '[profiles] a store in SQLite creates its encryption key once, for its owner only; a backup has it when the operator asks',
      '[profiles] a process that runs without the new key answers 503 and says what to do; rotation warns of it',
      '[profiles] with PostgreSQL a process with another key does not start and says what to do; rotation and a lost key go on from there',
      '[profiles] keys are rotated beside a running service; without a key it needs, the service does not start and says which',
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
      'However a run fails, its credentials are in no answer, error, log, metric, record, message of MCP or file.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[canary] credentials are looked for in everything that is said and kept, however a run fails',
      '[canary] ${name}: no credential is found',
      '[canary] no credential is found in the records of runs, nor in the folders',
      '[canary] what is no secret is found in answers, log and folders by the same look',
      '[canary] a credential is found in every notation, and nothing where there is none',
    ],
  },
};
