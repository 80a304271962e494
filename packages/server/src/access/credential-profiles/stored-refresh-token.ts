import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type RetryPolicy, retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { CredentialProfileRepository, StoredProfile } from './credential-profile-repository.ts';
import { refreshFailed } from './problems.ts';
import type { StoredRefreshToken } from './resolve-credentials.ts';

export interface StoredRefreshTokenDeps {
  readonly repository: Pick<CredentialProfileRepository, 'find' | 'claimRefresh' | 'releaseRefresh' | 'replace'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Decrypts the credentials of a profile. Throws when that fails. */
  readonly open: (profile: StoredProfile) => Record<string, unknown>;
  readonly encrypt: (text: string, profile: StoredProfile) => Pick<StoredProfile, 'encrypted' | 'keyId'>;
  /** New refresh tokens that could not be stored, by profile id. The next refresh stores them first. */
  readonly unstored: Map<string, Rotation>;
}

interface Rotation {
  /** The name of the credential. */
  readonly name: string;
  readonly used: string;
  readonly token: string;
}

/** The member of the stored credentials that contains the replaced refresh tokens. No credential has this name. */
const supersededMember = '$superseded';
/** Enough for the refresh token from the user and those replaced last. */
const mostSuperseded = 4;

/** Splits the stored value of a profile into its credentials and the replaced refresh tokens. */
export function splitSuperseded(stored: Record<string, unknown>) {
  const { [supersededMember]: listed, ...credentials } = stored;
  const superseded = Array.isArray(listed) ? listed.filter((token) => typeof token === 'string') : [];
  return { credentials, superseded };
}

function joinSuperseded(credentials: Record<string, unknown>, superseded: readonly string[]): string {
  const [first, ...others] = superseded;
  const recent = first === undefined ? [] : [first, ...others.slice(1 - mostSuperseded)];
  return JSON.stringify({ ...credentials, [supersededMember]: recent });
}

/** Longer than the timeout of a token request. */
const claimMs = 30_000;
/** The pause of a refresh that waits for another process. */
const waitMs = 200;
/** The number of times that a refresh waits for another process. */
const maxWaits = 75;
const maxStoreTries = 4;
const storeRetries: RetryPolicy = { firstMs: 400 };

/** Rotates the refresh token of one profile: claim, newest token, provider, encrypted new token, release. */
export function createStoredRefreshToken(
  profile: StoredProfile,
  superseded: readonly string[],
  deps: StoredRefreshTokenDeps,
): StoredRefreshToken {
  const { repository, logger } = deps;
  const { id, projectId } = profile;
  const fields = { profile: profile.name, project_id: projectId, bundle_id: profile.bundleId };

  async function claim(name: string): Promise<void> {
    for (let waits = 0; waits < maxWaits; waits++) {
      const found = await repository.claimRefresh(id, name, claimMs);
      if (found === 'expired') logger.warn(fields, 'token refresh in doubt: an earlier refresh did not finish');
      if (found !== 'busy') return;
      await pause(waitMs);
    }
    throw refreshFailed(
      profile.name,
      'another process did not finish refreshing its access token in time. Retry the request',
    );
  }

  async function newest(): Promise<StoredProfile> {
    const found = await repository.find(projectId, profile.name);
    if (found === undefined || found.id !== id)
      throw refreshFailed(profile.name, 'it was deleted. Create it again with POST /v1/credential_profiles');
    return found;
  }

  /** @returns whether the token is stored; false when the project has replaced the credentials in the meantime */
  async function storeOnce({ name, used, token }: Rotation): Promise<boolean> {
    for (;;) {
      const current = await newest();
      const { credentials, superseded } = splitSuperseded(deps.open(current));
      if (credentials[name] !== used) return false;
      const text = joinSuperseded({ ...credentials, [name]: token }, [...superseded, used]);
      const encrypted = deps.encrypt(text, current);
      // The call fails only when another writer, for example a rotation of the encryption key, succeeds.
      if (await repository.replace(current, { ...encrypted, updatedAt: current.updatedAt })) return true;
    }
  }

  async function store(rotation: Rotation): Promise<void> {
    deps.unstored.set(id, rotation);
    for (let tries = 1; ; tries++) {
      try {
        const isStored = await storeOnce(rotation);
        deps.unstored.delete(id);
        if (!isStored) logger.warn(fields, 'rotated refresh token dropped: the profile was changed');
        return;
      } catch (error) {
        if (tries >= maxStoreTries) {
          logger.error({ ...fields, err: error }, 'token refresh in doubt: the new refresh token was not stored');
          throw refreshFailed(profile.name, 'its new refresh token could not be stored. Retry the request', error);
        }
        await pause(retryDelayMs(storeRetries, tries));
      }
    }
  }

  return {
    version: `${id} ${profile.updatedAt}`,
    superseded,
    async refresh(name, ask) {
      const own = randomUUID();
      await claim(own);
      try {
        const unstored = deps.unstored.get(id);
        if (unstored !== undefined) await store(unstored);
        const used = deps.open(await newest())[name];
        if (typeof used !== 'string')
          throw refreshFailed(
            profile.name,
            `it no longer has a refresh token. Send its credentials again with POST /v1/credential_profiles/${profile.name}`,
          );
        const answer = await ask(used);
        if (answer.rotated !== undefined && answer.rotated !== used) {
          await store({ name, used, token: answer.rotated });
        }
        return answer;
      } finally {
        await repository.releaseRefresh(id, own).catch((error: unknown) => {
          logger.warn({ ...fields, err: error }, 'claim of a token refresh not released: it expires by itself');
        });
      }
    },
  };
}
