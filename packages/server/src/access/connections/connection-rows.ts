import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/identifier.ts';
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

/**
 * The name of a connection is its id. A row with a name below it holds access that waits for a decision, or that another one has replaced:
 * what ends the connection ends it, too, and nothing else finds it.
 */
export function isHeld({ id, name }: StoredProfile): boolean {
  return name !== id;
}

export function connectionIdOf({ name }: StoredProfile): string {
  return name.split('/', 1)[0] ?? name;
}

/** The encrypted part of a connection. */
export interface ConnectionSecrets {
  readonly credentials: Record<string, unknown>;
  /** The refresh token, if the provider gave one. */
  readonly refresh?: string | undefined;
}

export interface ConnectionRowsDeps {
  readonly repository: Pick<CredentialProfileRepository, 'add' | 'find' | 'replace'>;
  readonly encrypter: Encrypter | null;
  readonly clock: Clock;
  readonly newId: NewId;
}

export type Facts = Partial<StoredConnection>;

/** Reads and changes the rows of connections, with their encrypted part. */
export interface ConnectionRows {
  /** @throws Problem OBJECT_NOT_FOUND for one of another project or of a bundle that the caller does not see */
  get(projectId: string, id: string, permissions?: Permissions): Promise<ConnectionRow>;
  /** @throws Problem when the row was changed by others than this service, or its key is missing */
  open(row: ConnectionRow): ConnectionSecrets;
  /** @returns false, without a change, when the row was changed concurrently */
  save(row: ConnectionRow, secrets: ConnectionSecrets, facts: Facts): Promise<boolean>;
  /** Changes the facts only, and nothing once `isDue` is false of the row as it is then. */
  mark(row: ConnectionRow, facts: Facts, isDue?: (row: ConnectionRow) => boolean): Promise<void>;
  /** Stores access beside a connection. */
  hold(of: ConnectionRow, secrets: ConnectionSecrets, facts: Facts): Promise<ConnectionRow>;
  /** @returns undefined when it was used, has expired, or its connection was deleted */
  findHeld(of: ConnectionRow, name: string): Promise<ConnectionRow | undefined>;
  encrypt(secrets: ConnectionSecrets, place: Parameters<typeof placeOf>[0]): Pick<StoredProfile, 'encrypted' | 'keyId'>;
}

export function createConnectionRows({ repository, clock, newId, ...deps }: ConnectionRowsDeps): ConnectionRows {
  function encrypter(): Encrypter {
    if (deps.encrypter === null) throw encryptionNotConfigured();
    return deps.encrypter;
  }
  const rows: ConnectionRows = {
    async get(projectId, id, permissions) {
      const row = await repository.find(projectId, id);
      const isSeen = row !== undefined && permissions?.seesBundle(row.bundleId) !== false;
      if (isSeen && isConnection(row) && !isHeld(row)) return row;
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
    async mark(row, facts, isDue = () => true) {
      for (let current = row; isDue(current) && !(await rows.save(current, rows.open(current), facts)); ) {
        current = await rows.get(row.projectId, row.id);
      }
    },
    async hold({ id: of, projectId, bundleId, connection: given }, secrets, facts) {
      const id = newId('connection');
      const place = { projectId, bundleId, name: `${of}/${id}` };
      const now = clock.now();
      const connection = { ...given, ...facts, status: 'pending', reason: null } as const;
      const row = { id, ...place, ...rows.encrypt(secrets, place), createdAt: now, updatedAt: now, connection };
      // No limit refuses it, because this may be the only copy.
      await repository.add(row, Number.MAX_SAFE_INTEGER);
      return row;
    },
    async findHeld({ projectId }, name) {
      const row = await repository.find(projectId, name);
      return row !== undefined && isConnection(row) ? row : undefined;
    },
  };
  return rows;
}
