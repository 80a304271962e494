import { Type } from 'typebox';
import {
  ApiKey,
  ApiKeyCreate,
  ApiKeyRevokeQuery,
  ApiKeyRotate,
  NewApiKey,
  Project,
  ProjectCreate,
  ProjectDeletion,
} from '../administration.ts';
import { Acknowledgement, CountedList, ListQuery, Success } from '../envelope.ts';
import { OwnKey } from '../limits.ts';
import { describeOperations } from './operation.ts';
import { Id, keyOrSession, onlySession, ProjectParams } from './request-parts.ts';

const KeyParams = Type.Object({ project_id: Id, key_id: Id });

export const projectOperations = describeOperations('projects', {
  getOwnKey: {
    summary: 'Get the key of the request',
    description:
      'Tells what the key may do: its scopes, collections and tools, and what is left of its rate limits. A key of any scope may ask.',
    security: [{ apiKey: [] }],
    response: { 200: Success(OwnKey) },
    examples: { key: {} },
  },
  listProjects: {
    summary: 'List projects',
    description: 'A session lists the projects of its person; a key lists only its own project.',
    scope: 'admin',
    security: keyOrSession,
    querystring: ListQuery,
    response: { 200: CountedList(Project) },
    examples: { projects: {} },
  },
  createProject: {
    summary: 'Create a project',
    description:
      'Requires a session of an administrator of the service; a key cannot create projects. Names are unique.',
    security: onlySession,
    body: ProjectCreate,
    response: { 200: Success(Project) },
    examples: { project: { body: { name: 'support' } } },
  },
  deleteProject: {
    summary: 'Delete a project',
    description:
      'Requires a session of an administrator of the service; a key cannot delete projects. Deletes the project with everything that belongs to it, in the background. From the answer on, its keys are refused and nothing can be added. This cannot be undone. A repetition answers the state of the deletion.',
    security: onlySession,
    params: ProjectParams,
    response: { 200: Success(ProjectDeletion) },
    examples: { project: { path: { project_id: '$OTHER_PROJECT_ID' } } },
  },
  listProjectDeletions: {
    summary: 'List the deletions of projects',
    description:
      'Requires a session of an administrator of the service. Each entry counts what its deletion has removed so far; when `state` is `done`, it is the final report.',
    security: onlySession,
    querystring: ListQuery,
    response: { 200: CountedList(ProjectDeletion) },
    examples: { deletions: {} },
  },
  listKeys: {
    summary: 'List the keys of a project',
    description: 'Expired and revoked keys are listed too. The keys themselves are never shown again.',
    scope: 'admin',
    security: keyOrSession,
    params: ProjectParams,
    querystring: ListQuery,
    response: { 200: CountedList(ApiKey) },
    examples: { keys: {} },
  },
  createKey: {
    summary: 'Create a key',
    description:
      'Only this answer contains the key. The default for `scopes` is `files`, `collections` and `plugins`. A key can grant only what it has itself. ' +
      '`collections` and `tools` limit what exists for the key.',
    scope: 'admin',
    security: keyOrSession,
    params: ProjectParams,
    body: ApiKeyCreate,
    response: { 200: Success(NewApiKey) },
    examples: {
      key: { body: { name: 'reader', scopes: ['collections:read'], collections: ['$COLLECTION_ID'] } },
    },
  },
  rotateKey: {
    summary: 'Replace a key',
    description:
      'Creates a key with the same name, permissions and expiry, which owns what the old key uploaded. The old key works for another `overlap_seconds` (default: 3600).',
    scope: 'admin',
    security: keyOrSession,
    params: KeyParams,
    body: ApiKeyRotate,
    response: { 200: Success(NewApiKey) },
    examples: { key: { body: { overlap_seconds: 600 } } },
  },
  revokeKey: {
    summary: 'Revoke a key',
    description:
      'Takes effect immediately. With `descendants=true`, the keys that it created directly or through other keys are revoked too. Revoked keys stay in the list.',
    scope: 'admin',
    security: keyOrSession,
    params: KeyParams,
    querystring: ApiKeyRevokeQuery,
    response: { 200: Acknowledgement },
    examples: { key: { query: { descendants: 'true' } } },
  },
});
