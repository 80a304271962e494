import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { endedRun, settledRecord } from '../../test/support/client.ts';
import { commandEnvironment } from '../../test/support/command-environment.ts';
import { type StartedService, startService } from '../../test/support/service.ts';
import type { Endings } from '../support/endings.ts';
import { openUpstream } from '../support/upstream.ts';

const run = promisify(execFile);

/** Occurs in the name, content and metadata of everything that the first project owns. */
export const canary = 'canary-4c1d9e of the first project';

/** A service with two projects. The first one has one object of each kind. */
export interface TwoProjects {
  readonly service: StartedService;
  readonly first: Project;
  readonly second: Project;
  /** Ids of the first project, by the name of their member. */
  readonly ids: Readonly<Record<string, string>>;
}

export interface Project {
  readonly id: string;
  readonly key: string;
  /** Creates an additional key, bound to tools if these are named. */
  createKey(scopes: readonly string[], tools?: readonly string[]): Promise<string>;
}

export async function openTwoProjects(
  place: string,
  endings: Endings,
  settings: Record<string, string> = {},
): Promise<TwoProjects> {
  const folder = join(place, 'live');
  mkdirSync(folder, { recursive: true });
  const upstream = await openUpstream(place);
  endings.after(upstream.close);
  const service = await startService(endings, { folder, settings: { ...upstream.settings, ...settings } });
  const { first, second } = await createSecondProject(service);
  return { service, first, second, ids: { project_id: first.id, ...(await fill(service)) } };
}

/**
 * Creates a second project beside the one of the first key.
 * @param environment further variables of the commands
 */
export async function createSecondProject(
  service: Pick<StartedService, 'folder' | 'filesUrl' | 'key'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ first: Project; second: Project }> {
  const { folder, filesUrl, key } = service;
  const command = async (...args: string[]) => {
    const env = { ...commandEnvironment, HOME: folder, QUARTERMASTER_DATA: folder, ...environment };
    const { stdout } = await run(process.execPath, [resolve('packages/cli/src/main.ts'), ...args], { env });
    return stdout.trim();
  };
  const createKey = (project: string, scopes: readonly string[], tools: readonly string[] = []) => {
    const bound = tools.length === 0 ? [] : ['--tools', tools.join(',')];
    return command('key', 'create', project, '--name', 'proof', '--scopes', scopes.join(','), ...bound);
  };
  const projects = await fetch(`${filesUrl}/v1/projects`, { headers: { Authorization: `Bearer ${key}` } });
  const { data } = (await projects.json()) as { data: Array<{ project_id: string }> };
  const firstId = data[0]?.project_id ?? '';
  const secondId = await command('project', 'create', 'second');
  const secondKey = await createKey(secondId, ['files', 'collections', 'plugins']);
  return {
    first: { id: firstId, key, createKey: (...wanted) => createKey(firstId, ...wanted) },
    second: { id: secondId, key: secondKey, createKey: (...wanted) => createKey(secondId, ...wanted) },
  };
}

/** Creates one object of each kind, all with the canary. */
async function fill({ client, filesUrl, key }: StartedService): Promise<Record<string, string>> {
  const content = new Blob([`${canary}. `.repeat(20)]);
  const file = await client.files.upload(content, { purpose: 'record_file', name: `${canary}.txt` });
  const collection = await client.collections.create({ name: canary, metadata: { canary } });
  const source = { type: 'file', file_id: file.file_id, title: canary } as const;
  const record = await client.records.create(collection.collection_id, source);
  await settledRecord(client, collection.collection_id, record.record_id);
  const [chunk] = (await client.records.chunks(collection.collection_id, record.record_id)).data;
  const started = await client.plugins.start('proof/read', { q: canary });
  await endedRun(client, started.run_id);
  const keys = await fetch(`${filesUrl}/v1/projects`, { headers: { Authorization: `Bearer ${key}` } });
  await keys.arrayBuffer();
  return {
    file_id: file.file_id,
    collection_id: collection.collection_id,
    record_id: record.record_id,
    chunk_id: chunk?.chunk_id ?? '',
    run_id: started.run_id,
  };
}
