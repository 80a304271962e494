import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { NewApiKey, Project, ProjectDeletion } from '@quartermaster/contract';
import { projectHeader } from '@quartermaster/contract';
import { setUp } from '../support/administrator.ts';
import { send } from '../support/http.ts';
import { runCommand } from '../support/run-command.ts';
import { share, startService } from '../support/service.ts';

const shared = share(async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: 'info', PLUGINS_KEY: 'required' } });
  return { service, admin: await setUp(service) };
});

/** Creates a project with a key, a file, a collection with a chunk, and a run. */
async function createProject(name: string) {
  const { service, admin } = await shared();
  const ask = async <T>(path: string, body: object, headers = {}): Promise<T> => {
    const answer = await admin.ask('POST', path, { body, headers });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return (JSON.parse(text) as { data: T }).data;
  };
  const { project_id: id } = await ask<Project>('/v1/projects', { name });
  const { key } = await ask<NewApiKey>(`/v1/projects/${id}/keys`, {
    name: 'k',
    scopes: ['files', 'collections', 'plugins', 'admin'],
  });
  const form = new FormData();
  form.set('purpose', 'record_file');
  form.set('file', new File([`The tea of ${name} is green.`], 'tea.txt'));
  const headers = { Authorization: `Bearer ${key}` };
  const uploaded = await fetch(`${service.filesUrl}/v1/files`, { method: 'POST', headers, body: form });
  assert.equal(uploaded.status, 200, await uploaded.text());
  const { body: collection } = await send(`${service.filesUrl}/v1/collections`, { key, json: { name: 'teas' } });
  const chunks = `${service.filesUrl}/v1/collections/${collection.data.collection_id}/chunks`;
  const added = await send(chunks, { key, json: { content: 'Oolong' } });
  assert.equal(added.status, 200, added.text);
  return { id, key, headers: { [projectHeader]: id } };
}

async function untilDeleted(projectId: string): Promise<ProjectDeletion> {
  const { admin } = await shared();
  for (;;) {
    const answer = await admin.ask('GET', '/v1/project_deletions?limit=100');
    const { data } = (await answer.json()) as { data: ProjectDeletion[] };
    const found = data.find(({ project_id }) => project_id === projectId) ?? assert.fail('no deletion');
    if (found.state === 'done') return found;
    await pause(50);
  }
}

async function blobs(): Promise<string[]> {
  const { service } = await shared();
  const entries = await readdir(join(service.folder, 'blobs'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('[keys] an administrator deletes a project: its keys are refused, and a report tells what was deleted', async () => {
  const { service, admin } = await shared();
  const { filesUrl, pluginsUrl } = service;
  const { id, key, headers } = await createProject('tea');
  assert.equal((await blobs()).length, 1);

  const answer = await admin.ask('DELETE', `/v1/projects/${id}`);
  const { data } = (await answer.json()) as { data: ProjectDeletion };
  assert.deepEqual([answer.status, data.name], [200, 'tea']);
  for (const url of [`${filesUrl}/v1/files`, `${pluginsUrl}/v1/bundles`, `${filesUrl}/v1/projects/${id}/keys`]) {
    assert.equal((await send(url, { key })).status, 401, url);
  }
  assert.equal((await admin.ask('GET', '/v1/files', { headers })).status, 404);
  const created = await admin.ask('POST', '/v1/collections', { body: { name: 'late' }, headers });
  assert.equal(created.status, 404);
  assert.equal((await admin.ask('POST', `/v1/projects/${id}/keys`, { body: { name: 'late' } })).status, 404);

  const { deleted, ended_timestamp: ended, begun_timestamp: begun } = await untilDeleted(id);
  const counted = { collections: 1, records: 0, chunks: 1, files: 1, artifacts: 0, bytes: 24, runs: 0 };
  assert.deepEqual(deleted, { ...counted, credential_profiles: 0, keys: 1 });
  assert.ok(ended !== null && ended >= begun);
  assert.deepEqual(await blobs(), []);
  const repeated = await admin.ask('DELETE', `/v1/projects/${id}`);
  assert.equal(((await repeated.json()) as { data: ProjectDeletion }).data.state, 'done');
  const projects = await (await admin.ask('GET', '/v1/projects')).text();
  assert.ok(!projects.includes(id));
  assert.equal((await admin.ask('POST', '/v1/projects', { body: { name: 'tea' } })).status, 200, 'its name is free');
  const fsck = await runCommand(service, 'fsck', '--hash');
  assert.equal(fsck.code, 0, fsck.output);
  const metrics = await send(`${filesUrl}/metrics`, { key: service.key });
  assert.match(metrics.text, /^quartermaster_project_deletions_total\{result="done"\} [1-9]/m);
});

test('[keys] no key deletes a project, not even its own, and an unknown project is not found', async () => {
  const { service, admin } = await shared();
  const { id, key } = await createProject('coffee');
  const url = `${service.filesUrl}/v1/projects/${id}`;
  for (const [method, path] of [
    ['DELETE', url],
    ['GET', `${service.filesUrl}/v1/project_deletions`],
  ] as const) {
    const refused = await send(path, { key, method });
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'PERMISSION_DENIED'], path);
  }
  assert.equal((await send(url, { method: 'DELETE' })).status, 401);
  assert.equal((await admin.ask('DELETE', '/v1/projects/projnothing')).status, 404);
  assert.equal((await send(`${service.filesUrl}/v1/files`, { key })).status, 200);
});

test('[keys] the command asks for the name, deletes beside a running service, and prints the report', async () => {
  const { service } = await shared();
  const { id, key } = await createProject('cocoa');
  const refused = await runCommand({ ...service, input: 'coffee\n' }, 'project', 'delete', id);
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /The name was not confirmed\. Nothing was deleted\./);
  assert.equal((await send(`${service.filesUrl}/v1/files`, { key })).status, 200);
  const deleted = await runCommand({ ...service, input: 'cocoa\n' }, 'project', 'delete', id, '--json');
  assert.equal(deleted.code, 0, deleted.errors);
  const { files, chunks, keys, ended_timestamp: ended } = JSON.parse(deleted.output) as Record<string, number>;
  assert.deepEqual([files, chunks, keys], [1, 1, 1]);
  assert.ok(ended !== null);
  while ((await send(`${service.filesUrl}/v1/files`, { key })).status !== 401) await pause(50);
  const again = await runCommand(service, 'project', 'delete', 'cocoa', '--yes');
  assert.match(again.errors, /No project with the id or name "cocoa" was found/);
});
