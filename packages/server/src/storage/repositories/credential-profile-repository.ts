import { type Insertable, type Selectable, sql } from 'kysely';
import type {
  BundleClientRepository,
  CredentialProfileRepository,
  StoredBundleClient,
  StoredConnection,
  StoredProfile,
} from '../../access/credential-profiles/credential-profile-repository.ts';
import type { Database } from '../database/database.ts';
import { isOwned, type KeysetWindow, readKeysetPage, rowsWithin } from '../database/keyset-page.ts';
import { databaseNow } from '../database/like-pattern.ts';
import type { BundleClientTable, CredentialProfileTable } from '../database/oauth-tables.ts';
import { areAtLeast, countRows, lockProject } from '../database/row-limit.ts';

/** A connection that nothing uses any more. Its access is revoked at its provider before the row is removed. */
const deleting = 'deleting';
const isUsable = sql<boolean>`(status is null or status <> ${sql.lit(deleting)})`;
/** A connection, not the access that is held below its name. */
const isItself = sql<boolean>`name = id`;
const isOf = (connectionId: string) => sql<boolean>`(name = ${connectionId} or name like ${`${connectionId}/%`})`;

/** Stores credential profiles in either database. */
export function createCredentialProfileRepository(database: Database): CredentialProfileRepository {
  const { read, write, dialect } = database;
  const clients = createBundleClientRepository(database);
  const now = databaseNow(dialect);
  return {
    add: (profile, most) =>
      write.transaction().execute(async (transaction) => {
        await lockProject(transaction, dialect, profile.projectId);
        const ofProject = transaction
          .selectFrom('credential_profile')
          .select('id')
          .where('project_id', '=', profile.projectId);
        if ((await ofProject.where('name', '=', profile.name).executeTakeFirst()) !== undefined) return 'taken';
        const ofKind = ofProject.where('end_user', profile.connection === null ? 'is' : 'is not', null);
        if (await areAtLeast(ofKind.orderBy('id'), most)) return 'full';
        await transaction.insertInto('credential_profile').values(toRow(profile)).execute();
        return 'added';
      }),
    find: async (projectId, name) => {
      const row = await read
        .selectFrom('credential_profile')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('name', '=', name)
        .where(isUsable)
        .executeTakeFirst();
      return row === undefined ? undefined : toProfile(row);
    },
    findBundles: (projectId, names) => findBundles(read, projectId, names),
    list: async (
      projectId,
      query,
      { bundles = null, areConnections = false, endUser, connectionId, areDeleting } = {},
    ) => {
      const by = { project_id: projectId, ...(endUser === undefined ? {} : { end_user: endUser }) };
      const owned = { dialect, by };
      let wanted = read.selectFrom('credential_profile').selectAll();
      wanted = wanted.where('end_user', areConnections ? 'is not' : 'is', null);
      wanted = areDeleting ? wanted.where('status', '=', deleting) : wanted.where(isUsable);
      if (areConnections && !areDeleting) wanted = wanted.where(isItself);
      if (connectionId !== undefined) wanted = wanted.where(isOf(connectionId));
      if (bundles !== null) wanted = wanted.where('bundle_id', 'in', [...bundles]);
      const readPage = (window: KeysetWindow) => rowsWithin(wanted, window, { owned }).execute();
      const page = await readKeysetPage(query, readPage, () => countRows(read, wanted.where(isOwned(owned))));
      return { ...page, items: page.items.map(toProfile) };
    },
    replace: async (profile, { encrypted, keyId, updatedAt, connection }) => {
      const sealed = { sealed: encrypted, key_id: keyId, updated_at: updatedAt };
      const result = await write
        .updateTable(profile.projectId === '' ? 'bundle_client' : 'credential_profile')
        .set(connection === undefined ? sealed : { ...sealed, ...columnsOf(connection) })
        .where('id', '=', profile.id)
        .where('sealed', '=', profile.encrypted)
        .$if(connection !== undefined, (rows) => rows.where(isUsable))
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },
    claimRefresh: async (id, claim, forMs) => {
      const profile = write.updateTable('credential_profile').where('id', '=', id);
      const claimed = { refresh_claim: claim, refresh_claimed_until: sql<number>`${now} + ${sql.lit(forMs)}` };
      const free = await profile.set(claimed).where('refresh_claim', 'is', null).executeTakeFirst();
      if (free.numUpdatedRows === 1n) return 'claimed';
      const late = await profile.set(claimed).where('refresh_claimed_until', '<', now).executeTakeFirst();
      return late.numUpdatedRows === 1n ? 'expired' : 'busy';
    },
    releaseRefresh: async (id, claim) => {
      await write
        .updateTable('credential_profile')
        .set({ refresh_claim: null, refresh_claimed_until: null })
        .where('id', '=', id)
        .where('refresh_claim', '=', claim)
        .execute();
    },
    remove: async (projectId, name) => {
      if (projectId === '') return await clients.remove(name);
      const result = await write
        .deleteFrom('credential_profile')
        .where('project_id', '=', projectId)
        .where('name', '=', name)
        .executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
    ...deletionFunctions(database),
    ...keyFunctions(read),
  };
}

function deletionFunctions({
  read,
  write,
  dialect,
}: Database): Pick<CredentialProfileRepository, 'isAccountUsed' | 'markDeleting' | 'findDeleting' | 'expirePending'> {
  const place = sql.raw(dialect === 'sqlite' ? 'instr' : 'strpos');
  return {
    isAccountUsed: async (bundleId, accountId, exceptConnection) => {
      const others = read.selectFrom('credential_profile').select('id').where('bundle_id', '=', bundleId);
      const usable = others.where('status', 'in', ['active', 'misconfigured']).where('id', '<>', exceptConnection);
      const account = `"account":{"id":${JSON.stringify(accountId)},`; // as `columnsOf` writes it
      const found = usable.where(sql<boolean>`${place}(connection, ${account}) > 0`).limit(1);
      return (await found.executeTakeFirst()) !== undefined;
    },
    markDeleting: async (projectId, { bundles = null, endUser, connectionId }) => {
      let found = write.updateTable('credential_profile').set({ status: deleting }).where('project_id', '=', projectId);
      found = endUser === undefined ? found.where('end_user', 'is not', null) : found.where('end_user', '=', endUser);
      if (bundles !== null) found = found.where('bundle_id', 'in', [...bundles]);
      if (connectionId !== undefined) found = found.where(isOf(connectionId));
      await found.execute();
    },
    findDeleting: async () => {
      const rows = read.selectFrom('credential_profile').select('project_id').where('status', '=', deleting);
      return (await rows.distinct().execute()).map((row) => row.project_id);
    },
    expirePending: async ({ createdBefore, heldBefore }) => {
      const unused = write.deleteFrom('credential_profile').where('status', '=', 'pending').where(isItself);
      await unused.where('created_at', '<', createdBefore).execute();
      const held = write.updateTable('credential_profile').set({ status: deleting }).where('status', '=', 'pending');
      await held.where(sql<boolean>`not ${isItself}`).where('created_at', '<', heldBefore).execute();
    },
  };
}

/** The rows by the key that encrypts them: profiles, connections and OAuth clients. */
function keyFunctions(
  read: Database['read'],
): Pick<CredentialProfileRepository, 'countByKey' | 'listEncryptedByOtherKeys'> {
  return {
    countByKey: async () => {
      const rows = await read
        .selectFrom(
          read
            .selectFrom('credential_profile')
            .select('key_id')
            .unionAll(read.selectFrom('bundle_client').select('key_id'))
            .as('encrypted'),
        )
        .select((select) => ['key_id', select.fn.countAll<number>().as('profiles')])
        .groupBy('key_id')
        .orderBy('key_id')
        .execute();
      return new Map(rows.map((row) => [row.key_id, Number(row.profiles)]));
    },
    listEncryptedByOtherKeys: async (keyId, after, limit) => {
      const rows = await read
        .selectFrom('credential_profile')
        .selectAll()
        .where('key_id', '!=', keyId)
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute();
      const clientRows = await read
        .selectFrom('bundle_client')
        .selectAll()
        .where('key_id', '!=', keyId)
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute();
      const found = [...rows.map(toProfile), ...clientRows.map(asProfile)];
      return found.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit);
    },
  };
}

/** Stores the OAuth clients of bundles in either database. */
export function createBundleClientRepository({ read, write }: Database): BundleClientRepository {
  return {
    find: async (bundleId) => {
      const row = await read
        .selectFrom('bundle_client')
        .selectAll()
        .where('bundle_id', '=', bundleId)
        .executeTakeFirst();
      return row === undefined ? undefined : toClient(row);
    },
    save: async ({ id, bundleId, encrypted, keyId, createdAt, updatedAt }) => {
      const sealed = { sealed: encrypted, key_id: keyId, updated_at: updatedAt };
      await write
        .insertInto('bundle_client')
        .values({ id, bundle_id: bundleId, created_at: createdAt, ...sealed })
        .onConflict((conflict) => conflict.column('bundle_id').doUpdateSet(sealed))
        .execute();
      const refused = write.updateTable('credential_profile').where('status', '=', 'misconfigured');
      await refused.set({ status: 'active' }).where('bundle_id', '=', bundleId).execute();
    },
    remove: async (bundleId) => {
      const result = await write.deleteFrom('bundle_client').where('bundle_id', '=', bundleId).executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
  };
}

/** An OAuth client belongs to no project. */
function asProfile(row: Selectable<BundleClientTable>): StoredProfile {
  return { ...toClient(row), projectId: '', name: row.bundle_id, connection: null };
}

function toClient(row: Selectable<BundleClientTable>): StoredBundleClient {
  return {
    id: row.id,
    bundleId: row.bundle_id,
    encrypted: row.sealed,
    keyId: row.key_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

async function findBundles(
  read: Database['read'],
  projectId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await read
    .selectFrom('credential_profile')
    .select(['name', 'bundle_id'])
    .where('project_id', '=', projectId)
    .where('name', 'in', names)
    .execute();
  return new Map(rows.map((row) => [row.name, row.bundle_id]));
}

function toProfile(row: Selectable<CredentialProfileTable>): StoredProfile {
  return {
    id: row.id,
    projectId: row.project_id,
    bundleId: row.bundle_id,
    name: row.name,
    encrypted: row.sealed,
    keyId: row.key_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    connection: toConnection(row),
  };
}

function toConnection({ end_user: endUser, status: found, connection }: Selectable<CredentialProfileTable>) {
  if (endUser === null || found === null || connection === null) return null;
  // Only deletions read the rows that are being deleted.
  const status = found === deleting ? 'reconnect_required' : found;
  const facts = JSON.parse(connection) as Omit<StoredConnection, 'endUser' | 'status'>; // written below
  // An operator who corrects an OAuth client changes only the status.
  return { endUser, status, ...facts, reason: status === 'active' ? null : facts.reason };
}

function columnsOf(connection: StoredConnection | null) {
  if (connection === null) return { end_user: null, status: null, connection: null };
  const { endUser, status, ...facts } = connection;
  return { end_user: endUser, status, connection: JSON.stringify(facts) };
}

function toRow(profile: StoredProfile): Insertable<CredentialProfileTable> {
  return {
    id: profile.id,
    project_id: profile.projectId,
    bundle_id: profile.bundleId,
    name: profile.name,
    sealed: profile.encrypted,
    key_id: profile.keyId,
    created_at: profile.createdAt,
    updated_at: profile.updatedAt,
    ...columnsOf(profile.connection),
  };
}
