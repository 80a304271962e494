import { type Insertable, type Selectable, sql } from 'kysely';
import type {
  CredentialProfileRepository,
  StoredProfile,
} from '../../access/credential-profiles/credential-profile-repository.ts';
import type { Database } from '../database/database.ts';
import { type KeysetWindow, readKeysetPage, rowsWithin } from '../database/keyset-page.ts';
import { databaseNow } from '../database/like-pattern.ts';
import { areAtLeast, countRows, lockProject } from '../database/row-limit.ts';
import type { CredentialProfileTable } from '../database/tables.ts';

/** Stores credential profiles in either database. */
export function createCredentialProfileRepository({ read, write, dialect }: Database): CredentialProfileRepository {
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
        if (await areAtLeast(ofProject.orderBy('id'), most)) return 'full';
        await transaction.insertInto('credential_profile').values(toRow(profile)).execute();
        return 'added';
      }),
    find: async (projectId, name) => {
      const row = await read
        .selectFrom('credential_profile')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('name', '=', name)
        .executeTakeFirst();
      return row === undefined ? undefined : toProfile(row);
    },
    findBundles: (projectId, names) => findBundles(read, projectId, names),
    list: async (projectId, query, bundles = null) => {
      let ofProject = read.selectFrom('credential_profile').selectAll().where('project_id', '=', projectId);
      if (bundles !== null) ofProject = ofProject.where('bundle_id', 'in', [...bundles]);
      const readPage = (window: KeysetWindow) => rowsWithin(ofProject, window).execute();
      const page = await readKeysetPage(query, readPage, () => countRows(read, ofProject));
      return { ...page, items: page.items.map(toProfile) };
    },
    replace: async (profile, { encrypted, keyId, updatedAt }) => {
      const result = await write
        .updateTable('credential_profile')
        .set({ sealed: encrypted, key_id: keyId, updated_at: updatedAt })
        .where('id', '=', profile.id)
        .where('sealed', '=', profile.encrypted)
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
      const result = await write
        .deleteFrom('credential_profile')
        .where('project_id', '=', projectId)
        .where('name', '=', name)
        .executeTakeFirst();
      return result.numDeletedRows === 1n;
    },
    countByKey: async () => {
      const rows = await read
        .selectFrom('credential_profile')
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
      return rows.map(toProfile);
    },
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
  };
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
  };
}
