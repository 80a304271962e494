import { describeOperations } from './operation.ts';

export const projectOperations = describeOperations('projects', {
  listProjects: {
    summary: 'List projects',
    description: 'A session lists all projects; a key lists only its own project.',
    scope: 'admin',
    examples: { projects: {} },
  },
  createProject: {
    summary: 'Create a project',
    description: 'Requires a session of the administrator; a key cannot create projects. Names are unique.',
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
      'Only this answer contains the key. The default for `scopes` is `files`, `collections` and `plugins`. A key can grant only scopes that it has.',
    scope: 'admin',
    examples: { key: { body: { name: 'search only', scopes: ['collections'] } } },
  },
  rotateKey: {
    summary: 'Replace a key',
    description:
      'Creates a key with the same name, scopes and expiry. The old key works for another `overlap_seconds` (default: 3600).',
    scope: 'admin',
    examples: { key: { body: { overlap_seconds: 600 } } },
  },
  revokeKey: {
    summary: 'Revoke a key',
    description:
      'Takes effect immediately. With `descendants=true`, the keys that it created directly or through other keys are revoked too. Revoked keys stay in the list.',
    scope: 'admin',
    examples: { key: { query: { descendants: 'true' } } },
  },
});
