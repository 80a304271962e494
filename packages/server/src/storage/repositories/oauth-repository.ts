import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely';
import type { OauthRepository, StoredClient, StoredGrant, StoredRecord } from '../../access/oauth/oauth-repository.ts';
import type { Database } from '../database/database.ts';
import { assertNotDeleted } from '../database/deleted-projects.ts';
import type { OauthClientTable, OauthGrantTable, OauthRecordTable } from '../database/oauth-tables.ts';
import type { Tables } from '../database/tables.ts';

const day = 86_400_000;
/** Ended grants and unused documents are removed after this time. */
const keptMs = 30 * day;
const tokens = ['AccessToken', 'RefreshToken'];

/** Stores grants, applications, codes and tokens in either database. */
export function createOauthRepository(database: Pick<Database, 'read' | 'write' | 'dialect'>): OauthRepository {
  const { read, write } = database;
  return { ...recordFunctions(read, write), ...grantFunctions(database), ...clientFunctions(read, write) };
}

type RecordFunctions = Pick<
  OauthRepository,
  'saveRecord' | 'findRecord' | 'findRecords' | 'useRecord' | 'removeRecord' | 'keepNewest' | 'countEvent' | 'sweep'
>;

function recordFunctions(read: Kysely<Tables>, write: Kysely<Tables>): RecordFunctions {
  const findRecords = findRecordsIn(read);
  return {
    saveRecord: async ({ model, hash, grantId, payload, expiresAt }) => {
      const content = { payload: JSON.stringify(payload), expires_at: expiresAt };
      const project = read.selectFrom('oauth_grant').select('project_id').where('id', '=', grantId);
      const { project_id = '' } = (grantId === null ? undefined : await project.executeTakeFirst()) ?? {};
      await write
        .insertInto('oauth_record')
        .values({ model, hash, grant_id: grantId, project_id, consumed_at: null, ...content })
        .onConflict((conflict) => conflict.columns(['model', 'hash']).doUpdateSet(content))
        .execute();
    },
    findRecord: async (model, hash, now) => (await findRecords(model, [hash], now))[0],
    findRecords,
    useRecord: async (model, hash, { now, since, most }) => {
      const used = await write
        .updateTable('oauth_record')
        .set({ consumed_at: sql<number>`coalesce(consumed_at, ${now})`, uses: sql<number>`uses + 1` })
        .where('model', '=', model)
        .where('hash', '=', hash)
        .where('uses', '<', most)
        .where((where) => where.or([where('consumed_at', 'is', null), where('consumed_at', '>', since)]))
        .executeTakeFirst();
      return used.numUpdatedRows === 1n;
    },
    removeRecord: async (model, hash) => {
      const record = write.deleteFrom('oauth_record').where('model', '=', model).where('hash', '=', hash);
      return (await record.executeTakeFirst()).numDeletedRows === 1n;
    },
    keepNewest: async (model, grantId, most) => {
      const unused = read
        .selectFrom('oauth_record')
        .select('hash')
        .where('grant_id', '=', grantId)
        .where('model', '=', model)
        .where('consumed_at', 'is', null);
      const newest = unused.orderBy('expires_at', 'desc').orderBy('hash').limit(most);
      const oldest = write.deleteFrom('oauth_record').where('model', '=', model).where('hash', 'in', unused);
      await oldest.where('hash', 'not in', newest).execute();
    },
    countEvent: async (hash, { expiresAt, most }) => {
      const counted = await write
        .insertInto('oauth_record')
        .values({
          model: 'Event',
          hash,
          grant_id: null,
          project_id: '',
          payload: '{}',
          expires_at: expiresAt,
          consumed_at: null,
          uses: 1,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['model', 'hash'])
            .doUpdateSet({ uses: sql<number>`oauth_record.uses + 1` })
            .where('oauth_record.uses', '<', most),
        )
        .returning('uses')
        .execute();
      return counted.length > 0;
    },
    sweep: async (now) => {
      const before = now - keptMs;
      await write.deleteFrom('oauth_record').where('expires_at', '<=', now).execute();
      await write
        .deleteFrom('oauth_grant')
        .where((where) => where.or([where('expires_at', '<', before), where('revoked_at', '<', before)]))
        .execute();
      const unused = write
        .deleteFrom('oauth_grant')
        .where('last_used_at', 'is', null)
        .where('created_at', '<=', now - day);
      await unused.where(({ not, exists }) => not(exists(recordsOfGrant(read)))).execute();
      await write
        .deleteFrom('oauth_client')
        .where((where) =>
          where.or([
            where.and([where('kind', '=', 'registered'), where('created_at', '<=', now - day)]),
            where.and([where('kind', '=', 'document'), where('fresh_until', '<', before)]),
          ]),
        )
        .where(hasNoGrant)
        .execute();
    },
  };
}

function findRecordsIn(read: Kysely<Tables>): OauthRepository['findRecords'] {
  return async (model, hashes, now) => {
    const rows = await read
      .selectFrom('oauth_record')
      .selectAll()
      .where('model', '=', model)
      .where('hash', 'in', hashes)
      .where('expires_at', '>', now)
      .execute();
    const ids = rows.flatMap(({ grant_id: id }) => id ?? []);
    const usable = read.selectFrom('oauth_grant').selectAll().where('id', 'in', ids).where(isUsable(now));
    const grants = new Map((ids.length === 0 ? [] : await usable.execute()).map((row) => [row.id, toGrant(row)]));
    const found = rows.map((row) => ({ record: toRecord(row), grant: grants.get(row.grant_id ?? '') }));
    return found.filter(({ record, grant }) => record.grantId === null || grant !== undefined);
  };
}

type GrantFunctions = Pick<
  OauthRepository,
  'addGrant' | 'findGrant' | 'listGrants' | 'revokeGrant' | 'findUsableGrants' | 'touchGrant'
>;

function grantFunctions({ read, write, dialect }: Pick<Database, 'read' | 'write' | 'dialect'>): GrantFunctions {
  return {
    addGrant: (grant) =>
      write.transaction().execute(async (transaction) => {
        await assertNotDeleted(transaction, dialect, grant.projectId);
        await transaction.insertInto('oauth_grant').values(toGrantRow(grant)).execute();
      }),
    findGrant: async (id) => {
      const row = await read.selectFrom('oauth_grant').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? undefined : toGrant(row);
    },
    listGrants: async (projectId, now) => {
      const usable = read
        .selectFrom('oauth_grant')
        .selectAll()
        .where(isUsable(now))
        .where(({ exists }) =>
          exists(
            recordsOfGrant(read).where('oauth_record.model', 'in', tokens).where('oauth_record.expires_at', '>', now),
          ),
        )
        .orderBy('id');
      const rows = await (projectId === null ? usable : usable.where('project_id', '=', projectId)).execute();
      return rows.map(toGrant);
    },
    revokeGrant: async (id, at) => {
      const revoked = await write
        .updateTable('oauth_grant')
        .set({ revoked_at: at })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return revoked.numUpdatedRows === 1n;
    },
    findUsableGrants: async (ids, now) => {
      if (ids.length === 0) return [];
      const query = read.selectFrom('oauth_grant').select('id').where('id', 'in', ids).where(isUsable(now));
      return (await query.execute()).map(({ id }) => id);
    },
    touchGrant: async (id, at) => {
      await write.updateTable('oauth_grant').set({ last_used_at: at }).where('id', '=', id).execute();
    },
  };
}

type ClientFunctions = Pick<OauthRepository, 'saveClient' | 'findClient' | 'findClients' | 'addClient'>;

function clientFunctions(read: Kysely<Tables>, write: Kysely<Tables>): ClientFunctions {
  const findClients = async (ids: readonly string[]) => {
    if (ids.length === 0) return [];
    const rows = await read.selectFrom('oauth_client').selectAll().where('id', 'in', ids).execute();
    return rows.map(toClient);
  };
  return {
    saveClient: async (client) => {
      const { metadata, fresh_until } = toClientRow(client);
      await write
        .insertInto('oauth_client')
        .values(toClientRow(client))
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ metadata, fresh_until }))
        .execute();
    },
    findClient: async (id) => (await findClients([id]))[0],
    findClients,
    addClient: (client, most) =>
      write.transaction().execute(async (transaction) => {
        const { waiting } = await transaction
          .selectFrom('oauth_client')
          .select((select) => select.fn.countAll<number>().as('waiting'))
          .where('kind', '=', client.kind)
          .where(hasNoGrant)
          .executeTakeFirstOrThrow();
        if (Number(waiting) >= most) return false;
        await transaction.insertInto('oauth_client').values(toClientRow(client)).execute();
        return true;
      }),
  };
}

function hasNoGrant(where: ExpressionBuilder<Tables, 'oauth_client'>) {
  const grant = where.selectFrom('oauth_grant').select('oauth_grant.id').limit(1);
  return where.not(where.exists(grant.whereRef('oauth_grant.client_id', '=', 'oauth_client.id')));
}

function recordsOfGrant(read: Kysely<Tables>) {
  return read
    .selectFrom('oauth_record')
    .select('oauth_record.hash')
    .whereRef('oauth_record.grant_id', '=', sql.ref('oauth_grant.id'));
}

function isUsable(now: number) {
  return (where: ExpressionBuilder<Tables, 'oauth_grant'>) =>
    where.and([where('revoked_at', 'is', null), where('expires_at', '>', now)]);
}

function toRecord(row: Selectable<OauthRecordTable>): StoredRecord {
  return {
    model: row.model,
    hash: row.hash,
    grantId: row.grant_id,
    payload: JSON.parse(row.payload) as StoredRecord['payload'], // written above
    expiresAt: row.expires_at,
    consumedAt: row.consumed_at,
    uses: row.uses,
  };
}

function toGrantRow(grant: StoredGrant): Selectable<OauthGrantTable> {
  return {
    id: grant.id,
    client_id: grant.clientId,
    account_id: grant.accountId,
    project_id: grant.projectId,
    resource: grant.resource,
    scopes: JSON.stringify(grant.scopes),
    collections: grant.collections === null ? null : JSON.stringify(grant.collections),
    tools: grant.tools === null ? null : JSON.stringify(grant.tools),
    created_at: grant.createdAt,
    expires_at: grant.expiresAt,
    last_used_at: grant.lastUsedAt,
    revoked_at: grant.revokedAt,
  };
}

function toGrant(row: Selectable<OauthGrantTable>): StoredGrant {
  const list = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[])); // written above
  return {
    id: row.id,
    clientId: row.client_id,
    accountId: row.account_id,
    projectId: row.project_id,
    resource: row.resource,
    scopes: JSON.parse(row.scopes) as StoredGrant['scopes'], // written above
    collections: list(row.collections),
    tools: list(row.tools),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

function toClientRow({ id, kind, metadata, createdAt, freshUntil }: StoredClient): Selectable<OauthClientTable> {
  return { id, kind, metadata: JSON.stringify(metadata), created_at: createdAt, fresh_until: freshUntil };
}

function toClient(row: Selectable<OauthClientTable>): StoredClient {
  const metadata = JSON.parse(row.metadata) as StoredClient['metadata']; // written above
  return { id: row.id, kind: row.kind, metadata, createdAt: row.created_at, freshUntil: row.fresh_until };
}
