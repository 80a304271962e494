import { describeOperations } from './operation.ts';

export const projectOperations = describeOperations('projects', {
  listProjects: {
    summary: 'List projects',
    description: 'A session gets all projects, a key only its own.',
    scope: 'admin',
    examples: { projects: {} },
  },
  createProject: {
    summary: 'Create a project',
    description: 'Needs the session of the administrator: no key can create a project. Names are unique.',
    examples: { project: { body: { name: 'support' } } },
  },
  listKeys: {
    summary: 'List the keys of a project',
    description: 'Expired and revoked keys are listed too. The keys themselves are never shown again.',
    scope: 'admin',
    examples: { keys: {} },
  },
  createKey: {
    summary: 'Create a key',
    description:
      'This answer is the only one that holds the key. Without `scopes` it gets `files`, `collections` and `plugins`. A key can give only scopes that it has itself.',
    scope: 'admin',
    examples: { key: { body: { name: 'search only', scopes: ['collections'] } } },
  },
  rotateKey: {
    summary: 'Replace a key',
    description:
      'Creates a key with the same name, scopes and expiry. The old key works for `overlap_seconds` more (3600 unless given).',
    scope: 'admin',
    examples: { key: { body: { overlap_seconds: 600 } } },
  },
  revokeKey: {
    summary: 'Revoke a key',
    description:
      'Takes effect at once. With `descendants=true` the keys that it created are revoked too, directly or by way of other keys. Revoked keys stay in the list.',
    scope: 'admin',
    examples: { key: { query: { descendants: 'true' } } },
  },
});
