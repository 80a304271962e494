import {
  type CredentialProfile,
  type CredentialProfileCreate,
  type ListQuery,
  profileMember,
} from '@quartermaster/contract';
import type { Clock } from '../../platform/clock.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import type { NewId } from '../../platform/identifier.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { checkCursors } from '../../platform/list-cursors.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { Page } from '../../platform/page.ts';
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
  tooManyProfiles,
} from './problems.ts';
import { type ResolveCredentials, rememberStored } from './resolve-credentials.ts';
import { createStoredRefreshToken, splitSuperseded } from './stored-refresh-token.ts';

export interface CredentialProfilesDeps {
  readonly repository: CredentialProfileRepository;
  /** Null when the operator has configured no key. Profiles are unavailable then. */
  readonly encrypter: Encrypter | null;
  /**
   * Reads credentials by the schema of a bundle, because every run with wrong ones would fail.
   * @returns the declared members only
   * @throws Problem 404 when the bundle is not installed, 422 when the credentials are wrong or too large
   */
  readonly readCredentials: (bundleId: string, credentials: Named) => Named;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly countExceeded?: CountExceeded;
}

/** The maximum number of profiles in one project. */
const maxProfiles = 1_000;

type Named = Record<string, unknown>;

/** Credentials that a project stores encrypted under a name. Profiles of other projects are treated as missing. */
export interface CredentialProfiles {
  create(projectId: string, body: CredentialProfileCreate): Promise<CredentialProfile>;
  update(projectId: string, name: string, credentials: Named): Promise<CredentialProfile>;
  get(projectId: string, name: string): Promise<CredentialProfile>;
  list(projectId: string, query: ListQuery): Promise<Page<CredentialProfile>>;
  remove(projectId: string, name: string): Promise<void>;
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

  async function find(projectId: string, name: string): Promise<StoredProfile> {
    const found = await repository.find(projectId, name);
    if (found === undefined) throw profileNotFound(name);
    return found;
  }

  const read = (bundleId: string, received: Named) => JSON.stringify(deps.readCredentials(bundleId, received));

  function open(profile: StoredProfile): Named {
    const plain = encrypter().decrypt(profile.encrypted, placeOf(profile));
    if (plain === null && !encrypter().knows(profile.keyId)) throw profileKeyMissing(profile.name, profile.keyId);
    if (plain === null) throw profileUnreadable(profile.name);
    // The text was encrypted from the result of `readCredentials`, which is an object.
    return parseJson(plain) as Named;
  }

  function encryptFor(text: string, profile: StoredProfile) {
    const { text: encrypted, keyId } = encrypter().encrypt(text, placeOf(profile));
    return { encrypted, keyId };
  }

  async function resolveProfile(projectId: string, bundleId: string, credentials: Named): Promise<Named> {
    if (projectId === '-') throw apiKeyRejected();
    const { [profileMember]: name, ...others } = credentials;
    if (typeof name !== 'string')
      throw profileReferenceInvalid('a value that is not a string', 'the name of a credential profile');
    if (Object.keys(others).length > 0) {
      throw profileReferenceInvalid('other members too', 'the only member of credentials');
    }
    encrypter();
    const profile = await find(projectId, name);
    if (profile.bundleId !== bundleId) {
      const found = `a profile of the bundle ${JSON.stringify(profile.bundleId)}`;
      throw profileReferenceInvalid(found, `a profile of the bundle ${JSON.stringify(bundleId.slice(0, 64))}`);
    }
    const { credentials: stored, superseded } = splitSuperseded(open(profile));
    return rememberStored(stored, createStoredRefreshToken(profile, superseded, refreshing));
  }

  const refreshing = { repository, logger: deps.logger, open, encrypt: encryptFor, unstored: new Map() };

  return {
    async create(projectId, { name, bundle_id: bundleId, credentials }) {
      const text = read(bundleId, credentials);
      const place = { projectId, bundleId, name };
      const { text: encrypted, keyId } = encrypter().encrypt(text, placeOf(place));
      const now = clock.now();
      const profile = { id: newId('credentialProfile'), ...place, encrypted, keyId, createdAt: now, updatedAt: now };
      const outcome = await repository.add(profile, maxProfiles);
      if (outcome === 'taken') throw profileNameTaken(name);
      if (outcome === 'full') {
        deps.countExceeded?.('profiles_of_project');
        throw tooManyProfiles(maxProfiles);
      }
      return toWire(profile);
    },
    async update(projectId, name, credentials) {
      const current = encrypter();
      const profile = await find(projectId, name);
      const { text: encrypted, keyId } = current.encrypt(read(profile.bundleId, credentials), placeOf(profile));
      const changed = { encrypted, keyId, updatedAt: clock.now() };
      if (!(await repository.replace(profile, changed))) throw profileBusy(name);
      return toWire({ ...profile, ...changed });
    },
    get: async (projectId, name) => toWire(await find(projectId, name)),
    async list(projectId, query) {
      const page = await repository.list(projectId, checkCursors(query, 'credentialProfile'));
      return { ...page, items: page.items.map(toWire) };
    },
    async remove(projectId, name) {
      if (!(await repository.remove(projectId, name))) throw profileNotFound(name);
    },
    isEncryptionConfigured: deps.encrypter !== null,
    resolve: (projectId, bundleId, credentials) =>
      Object.hasOwn(credentials, profileMember) ? resolveProfile(projectId, bundleId, credentials) : credentials,
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
