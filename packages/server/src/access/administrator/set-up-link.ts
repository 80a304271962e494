import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { Secret } from '../../kernel/secret.ts';
import type { AdministratorRepository } from './administrator-repository.ts';
import { hashToken } from './sessions.ts';

const validMs = 3_600_000;

export interface SetUpLink {
  readonly link: Secret;
  /** Where it was written, mode 0600. */
  readonly file: string;
}

export interface SetUpLinkDeps {
  readonly repository: AdministratorRepository;
  readonly clock: Clock;
  readonly dataFolder: string;
  /** Where people reach the console, such as `http://127.0.0.1:8080`. */
  readonly consoleUrl: string;
}

/**
 * Makes the link that makes the administrator: 256 random bits, for one use within an hour. The token stands behind
 * the `#`, so that no log of a proxy has it. The link before it is void.
 * @returns undefined when there is an administrator; a link left in the data folder is removed then.
 */
export async function createSetUpLink(deps: SetUpLinkDeps): Promise<SetUpLink | undefined> {
  const file = join(deps.dataFolder, 'setup-link');
  const token = randomBytes(32).toString('base64url');
  const kept = await deps.repository.keepSetUpToken({ hash: hashToken(token), expiresAt: deps.clock.now() + validMs });
  if (!kept) {
    await rm(file, { force: true });
    return undefined;
  }
  const link = `${deps.consoleUrl}/setup#${token}`;
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(`${link}\n`);
  } finally {
    await handle.close();
  }
  return { link: new Secret(link), file };
}
