import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import { Secret } from '../../platform/secret.ts';
import type { AccountRepository } from './account-repository.ts';
import { hashToken } from './sessions.ts';

const validMs = 3_600_000;

export interface SetUpLink {
  readonly link: Secret;
  /** The file that contains the link, with mode 0600. */
  readonly file: string;
}

export interface SetUpLinkDeps {
  readonly repository: AccountRepository;
  readonly clock: Clock;
  readonly dataFolder: string;
  /** The URL under which people reach the console, for example `http://127.0.0.1:8080`. */
  readonly consoleUrl: string;
  /** Whether a valid link of another node stays valid. No link is created then. */
  readonly keepsValid?: boolean;
}

/**
 * Creates the setup link of the administrator: 256 random bits, valid once within an hour. The token follows the `#`,
 * so that no proxy logs it. The previous link becomes void.
 * @returns undefined when there is an administrator, or a valid link that stays; a link in the data folder is removed in the first case
 */
export async function createSetUpLink(deps: SetUpLinkDeps): Promise<SetUpLink | undefined> {
  const file = join(deps.dataFolder, 'setup-link');
  const token = randomBytes(32).toString('base64url');
  const now = deps.clock.now();
  const created = { hash: hashToken(token), expiresAt: now + validMs };
  const stored = await deps.repository.keepSetUpToken(created, deps.keepsValid === true ? now : undefined);
  if (stored === 'valid') return undefined;
  if (stored === 'account') {
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
