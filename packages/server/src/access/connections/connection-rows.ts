import type { Clock } from '../../platform/clock.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { objectNotFound } from '../../platform/problem.ts';
import type {
  CredentialProfileRepository,
  StoredConnection,
  StoredProfile,
} from '../credential-profiles/credential-profile-repository.ts';
import { placeOf } from '../credential-profiles/credential-profiles.ts';
import type { Encrypter } from '../credential-profiles/encryption.ts';
import { encryptionNotConfigured, profileKeyMissing, profileUnreadable } from '../credential-profiles/problems.ts';

/** A stored profile that is a connection. */
export interface ConnectionRow extends StoredProfile {
  readonly connection: StoredConnection;
}

export function isConnection(row: StoredProfile): row is ConnectionRow {
  return row.connection !== null;
}

/** The encrypted part of a connection. */
export interface ConnectionSecrets {
  readonly credentials: Record<string, unknown>;
  /** The refresh token, if the provider gave one. */
  readonly refresh?: string | undefined;
}

export interface ConnectionRowsDeps {
  readonly repository: Pick<CredentialProfileRepository, 'find' | 'replace'>;
  readonly encrypter: Encrypter | null;
  readonly clock: Clock;
}

/** Reads and changes the rows of connections, with their encrypted part. */
export interface ConnectionRows {
  /** @throws Problem OBJECT_NOT_FOUND for one of another project or of a bundle that the caller does not see */
  get(projectId: string, id: string, permissions?: Permissions): Promise<ConnectionRow>;
  /** @throws Problem when the row was changed by others than this service, or its key is missing */
  open(row: ConnectionRow): ConnectionSecrets;
  /** @returns false, without a change, when the row was changed concurrently */
  save(row: ConnectionRow, secrets: ConnectionSecrets, facts: Partial<StoredConnection>): Promise<boolean>;
  /** Changes the facts only. */
  mark(row: ConnectionRow, facts: Partial<StoredConnection>): Promise<void>;
  encrypt(secrets: ConnectionSecrets, place: Parameters<typeof placeOf>[0]): Pick<StoredProfile, 'encrypted' | 'keyId'>;
}

export function createConnectionRows({ repository, clock, ...deps }: ConnectionRowsDeps): ConnectionRows {
  function encrypter(): Encrypter {
    if (deps.encrypter === null) throw encryptionNotConfigured();
    return deps.encrypter;
  }
  const rows: ConnectionRows = {
    async get(projectId, id, permissions) {
      const row = await repository.find(projectId, id);
      if (row !== undefined && isConnection(row) && permissions?.seesBundle(row.bundleId) !== false) return row;
      throw objectNotFound('connection', id);
    },
    open(row) {
      const plain = encrypter().decrypt(row.encrypted, placeOf(row));
      if (plain === null && !encrypter().knows(row.keyId)) throw profileKeyMissing(row.name, row.keyId);
      if (plain === null) throw profileUnreadable(row.name);
      return parseJson(plain) as ConnectionSecrets; // written by `encrypt`
    },
    encrypt(secrets, place) {
      const { text: encrypted, keyId } = encrypter().encrypt(JSON.stringify(secrets), placeOf(place));
      return { encrypted, keyId };
    },
    save: (row, secrets, facts) => {
      const connection = { ...row.connection, ...facts };
      return repository.replace(row, { ...rows.encrypt(secrets, row), updatedAt: clock.now(), connection });
    },
    async mark(row, facts) {
      for (let current = row; !(await rows.save(current, rows.open(current), facts)); ) {
        current = await rows.get(row.projectId, row.id);
      }
    },
  };
  return rows;
}
