import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstScopes } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import { serviceSource } from '../../platform/audit/audit.ts';
import { Secret } from '../../platform/secret.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import { hashApiKey, looksLikeApiKey } from './api-key.ts';
import { maxProjects, newKey, type ProjectsDeps } from './projects.ts';

/** The name of the project of a new installation. */
const firstProjectName = 'default';
const fileName = 'first-key';

/** The first key of an installation. */
export interface FirstKey {
  readonly key: Secret;
  readonly keyId: string;
  /** The file that contains the key, with mode 0600; null for a key of the settings. */
  readonly file: string | null;
}

/**
 * Creates one project and one key in a new installation. A new key is written to `first-key` in the data folder (mode
 * 0600) before it becomes valid, so that it cannot be lost. When several processes start at the same time, one creates
 * the key.
 * @param chosen the key of the settings, used instead of a new one
 * @returns the key, or undefined when there is a project already
 * @throws OperatorError when the chosen key has not the form of a key
 */
export async function createFirstKey(
  deps: ProjectsDeps,
  dataFolder: string,
  chosen: Secret | null = null,
): Promise<FirstKey | undefined> {
  const { audit, repository, clock, newId } = deps;
  if (chosen !== null && !looksLikeApiKey(chosen.reveal())) throw firstKeyRefused();
  if ((await repository.listProjects()).length > 0) return undefined;
  const project = { id: newId('project'), name: firstProjectName, createdAt: clock.now() };
  const request = { projectId: project.id, name: 'first', scopes: firstScopes, expiresAt: null };
  const { key, stored } = newKey(deps, request, chosen ?? undefined);
  const file = chosen === null ? join(dataFolder, fileName) : null;
  const added = await repository.addProject(project, {
    most: maxProjects,
    key: stored,
    beforeCommit: async () => {
      if (file !== null) await writeDurably(file, `${key.reveal()}\n`);
    },
  });
  if (added !== 'added') return undefined;
  await audit.record(serviceSource, { action: 'key.created', id: stored.id, projectId: project.id });
  return { key, keyId: stored.id, file };
}

/**
 * Returns the key in the file `first-key` while it is usable and no request has used it. Its user may never have seen
 * it, because the start that created it failed later.
 */
export async function findUnusedFirstKey(
  { repository, clock }: Pick<ProjectsDeps, 'repository' | 'clock'>,
  dataFolder: string,
): Promise<{ readonly key: Secret; readonly file: string } | undefined> {
  const file = join(dataFolder, fileName);
  const text = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (!looksLikeApiKey(text)) return undefined;
  const stored = await repository.findKeyByHash(hashApiKey(text));
  if (stored === undefined || stored.lastUsedAt !== null || stored.revokedAt !== null) return undefined;
  if (stored.expiresAt !== null && stored.expiresAt <= clock.now()) return undefined;
  return { key: new Secret(text), file };
}

function firstKeyRefused(): OperatorError {
  return new OperatorError(
    `QUARTERMASTER_FIRST_KEY, or the file that QUARTERMASTER_FIRST_KEY_FILE names, does not hold an API key. "${commandName} key generate" prints one.`,
  );
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
