import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { scopes } from '@quartermaster/contract';
import type { Secret } from '../../kernel/secret.ts';
import { maxProjects, newKey, type ProjectsDeps } from './projects.ts';

/** The name of the project of a new installation. */
const firstProjectName = 'default';

/**
 * Creates one project and one key in a new installation. The key is written to `first-key` in the data folder (mode
 * 0600) before it becomes valid, so that it cannot be lost. When several processes start at the same time, one creates
 * the key.
 * @returns the key and its file, or undefined when there is a project already
 */
export async function createFirstKey(
  deps: ProjectsDeps,
  dataFolder: string,
): Promise<{ key: Secret; file: string } | undefined> {
  const { repository, clock, newId } = deps;
  if ((await repository.listProjects()).length > 0) return undefined;
  const project = { id: newId('project'), name: firstProjectName, createdAt: clock.now() };
  const created = newKey(deps, { projectId: project.id, name: 'first', scopes, expiresAt: null });
  const file = join(dataFolder, 'first-key');
  const added = await repository.addProject(project, {
    most: maxProjects,
    key: created.stored,
    beforeCommit: () => writeDurably(file, `${created.key.reveal()}\n`),
  });
  return added === 'added' ? { key: created.key, file } : undefined;
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
