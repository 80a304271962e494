import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type CredentialProfile,
  type CredentialProfileCreate,
  type ListQuery,
  profileMember,
} from '@quartermaster/contract';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import { type RetryPolicy, retryDelayMs } from '../../platform/concurrency/retry-delay.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { checkCursors } from '../../platform/list-cursors.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { Page } from '../../platform/page.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { apiKeyRejected } from '../projects/problems.ts';
import type { CredentialProfileRepository, StoredProfile } from './credential-profile-repository.ts';
import type { Encrypter } from './encryption.ts';
import {
  encryptionNotConfigured,
  profileBusy,
  profileKeyMissing,
  profileNameTaken,
  profileNotFound,
  profileReferenceInvalid,
  profileUnreadable,
  refreshFailed,
  tooManyProfiles,
} from './problems.ts';
import type { ProfileUser, ProjectProfiles, ResolveCredentials, StoredRefreshToken } from './resolve-credentials.ts';

export interface CredentialProfilesDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly repository: CredentialProfileRepository;
  /** Null when the operator has configured no key. Profiles are unavailable then. */
  readonly encrypter: Encrypter | null;
  /**
   * Reads credentials by the schema of a bundle that the user sees, because every run with wrong ones would fail.
   * @returns the declared members only
   * @throws Problem 404 when there is no such bundle, 422 when the credentials are wrong or too large
   */
  readonly readCredentials: (bundleId: string, credentials: Named, permissions?: Permissions) => Named;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly countExceeded?: CountExceeded;
}

/** The maximum number of profiles in one project. */
const maxProfiles = 1_000;

type Named = Record<string, unknown>;

/** Credentials that a project stores encrypted under a name. Profiles of other projects are treated as missing. */
export interface CredentialProfiles {
  create(user: ProjectProfiles, body: CredentialProfileCreate): Promise<CredentialProfile>;
  update(user: ProjectProfiles, name: string, credentials: Named): Promise<CredentialProfile>;
  get(user: ProjectProfiles, name: string): Promise<CredentialProfile>;
  list(user: ProjectProfiles, query: ListQuery): Promise<Page<CredentialProfile>>;
  remove(user: ProjectProfiles, name: string): Promise<void>;
  readonly resolve: ResolveCredentials;
  /** Whether there is a key. Without one, nothing is stored. */
  readonly isEncryptionConfigured: boolean;
}

export function createCredentialProfiles(deps: CredentialProfilesDeps): CredentialProfiles {
  const { repository, clock, newId } = deps;

  function encrypter(): Encrypter {
    if (deps.encrypter === null) throw encryptionNotConfigured();
    return deps.encrypter;
  }

  async function find({ projectId, permissions }: ProjectProfiles, name: string): Promise<StoredProfile> {
    const found = await repository.find(projectId, name);
    if (found === undefined || found.connection !== null || permissions?.seesBundle(found.bundleId) === false)
      throw profileNotFound(name);
    return found;
  }

  const read = (...given: Parameters<typeof deps.readCredentials>) => JSON.stringify(deps.readCredentials(...given));

  function open(profile: StoredProfile): Named {
    const plain = encrypter().decrypt(profile.encrypted, placeOf(profile));
    if (plain === null && !encrypter().knows(profile.keyId)) throw profileKeyMissing(profile.name, profile.keyId);
    if (plain === null) throw profileUnreadable(profile.name);
    // The text was encrypted from the result of `readCredentials`, which is an object.
    return parseJson(plain) as Named;
  }

  function encryptFor(text: string, place: Parameters<typeof placeOf>[0]) {
    const { text: encrypted, keyId } = encrypter().encrypt(text, placeOf(place));
    return { encrypted, keyId };
  }

  async function resolveProfile({ projectId, permissions }: ProfileUser, bundleId: string, credentials: Named) {
    if (projectId === null) throw apiKeyRejected();
    const { [profileMember]: name, ...others } = credentials;
    if (typeof name !== 'string')
      throw profileReferenceInvalid('a value that is not a string', 'the name of a credential profile');
    if (Object.keys(others).length > 0) {
      throw profileReferenceInvalid('other members too', 'the only member of credentials');
    }
    encrypter();
    const profile = await find({ projectId, permissions }, name);
    if (profile.bundleId !== bundleId) {
      const found = `a profile of the bundle ${JSON.stringify(profile.bundleId)}`;
      throw profileReferenceInvalid(found, `a profile of the bundle ${JSON.stringify(bundleId.slice(0, 64))}`);
    }
    const { credentials: stored, superseded } = splitSuperseded(open(profile));
    return { credentials: stored, refreshToken: createStoredRefreshToken(profile, superseded, refreshing) };
  }

  const refreshing = { repository, logger: deps.logger, open, encrypt: encryptFor, unstored: new Map() };

  return {
    async create({ projectId, permissions }, { name, bundle_id: bundleId, credentials }) {
      const text = read(bundleId, credentials, permissions);
      const place = { projectId, bundleId, name };
      const [encrypted, now] = [encryptFor(text, place), clock.now()];
      const times = { createdAt: now, updatedAt: now };
      const profile = { id: newId('credentialProfile'), ...place, ...encrypted, ...times, connection: null };
      const outcome = await repository.add(profile, maxProfiles);
      if (outcome === 'taken') throw profileNameTaken(name);
      if (outcome === 'full') {
        deps.countExceeded?.('profiles_of_project');
        throw tooManyProfiles(maxProfiles);
      }
      return toWire(profile);
    },
    async update(user, name, credentials) {
      encrypter();
      const profile = await find(user, name);
      const changed = { ...encryptFor(read(profile.bundleId, credentials), profile), updatedAt: clock.now() };
      if (!(await repository.replace(profile, changed))) throw profileBusy(name);
      return toWire({ ...profile, ...changed });
    },
    get: async (user, name) => toWire(await find(user, name)),
    async list({ projectId, permissions }, query) {
      const bundles = permissions?.bundles;
      const page = await repository.list(projectId, checkCursors(query, 'credentialProfile'), { bundles });
      return { ...page, items: page.items.map(toWire) };
    },
    remove: async (user, name) => void (await repository.remove(user.projectId, (await find(user, name)).name)),
    isEncryptionConfigured: deps.encrypter !== null,
    resolve: (user, bundleId, credentials) =>
      Object.hasOwn(credentials, profileMember) ? resolveProfile(user, bundleId, credentials) : { credentials },
  };
}

/** Returns the context of a profile's encrypted text, so that swapped rows cannot be decrypted. */
export function placeOf({ projectId, bundleId, name }: Pick<StoredProfile, 'projectId' | 'bundleId' | 'name'>) {
  return ['credential_profile', projectId, bundleId, name];
}

function toWire(profile: StoredProfile): CredentialProfile {
  return {
    object: 'credential_profile',
    credential_profile_id: profile.id,
    name: profile.name,
    bundle_id: profile.bundleId,
    created_timestamp: profile.createdAt,
    updated_timestamp: profile.updatedAt,
  };
}

interface StoredRefreshTokenDeps {
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
function splitSuperseded(stored: Record<string, unknown>) {
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
function createStoredRefreshToken(
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
