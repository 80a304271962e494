import type { Role } from '@quartermaster/contract';
import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { type OauthRepository, type StoredGrant, standingOfGrant } from '../../access/oauth/oauth-repository.ts';
import type { Database } from '../database/database.ts';
import { assertNotDeleted } from '../database/deleted-projects.ts';
import type { Tables } from '../database/tables.ts';
import { toClient, toClientRow, toGrant, toGrantRow, toRecord } from './oauth-rows.ts';

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
  | 'saveRecord'
  | 'findRecord'
  | 'findRecords'
  | 'useRecord'
  | 'removeRecord'
  | 'keepNewest'
  | 'countEvent'
  | 'uncountEvent'
  | 'sweep'
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
    uncountEvent: async (hash) => {
      const counter = write.updateTable('oauth_record').set({ uses: sql<number>`uses - 1` });
      await counter.where('model', '=', 'Event').where('hash', '=', hash).where('uses', '>', 0).execute();
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
    const usable = new Map((await findUsable(read, ids, now)).map((one) => [one.grant.id, one]));
    const found = rows.map((row) => {
      const { grant, role } = usable.get(row.grant_id ?? '') ?? {};
      return { record: toRecord(row), grant, role };
    });
    return found.filter(({ record, grant }) => record.grantId === null || grant !== undefined);
  };
}

/** Returns those of the grants that are usable, with the role that their person has now. */
async function findUsable(
  read: Kysely<Tables>,
  ids: readonly string[],
  now: number,
): Promise<Array<{ grant: StoredGrant; role: Role }>> {
  if (ids.length === 0) return [];
  const rows = await read
    .selectFrom('oauth_grant')
    .innerJoin('account', 'account.id', 'oauth_grant.account_id')
    .leftJoin('member', (join) =>
      join.onRef('member.account_id', '=', 'account.id').onRef('member.project_id', '=', 'oauth_grant.project_id'),
    )
    .selectAll('oauth_grant')
    .select(['is_administrator', 'role'])
    .where('oauth_grant.id', 'in', ids)
    .where('oauth_grant.revoked_at', 'is', null)
    .where('oauth_grant.expires_at', '>', now)
    .where('account.disabled_at', 'is', null)
    .execute();
  return rows.flatMap(({ is_administrator, role: ofMember, ...row }) => {
    const role = is_administrator === 1 ? 'administrator' : ofMember;
    return role === null ? [] : [{ grant: toGrant(row), role }];
  });
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
    listGrants: async (managed, now) => {
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
      const own =
        managed === null
          ? usable
          : usable.where(({ or, eb }) =>
              or([eb('project_id', 'in', [...managed.projects, '']), eb('account_id', '=', managed.accountId ?? '')]),
            );
      const rows = await own.execute();
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
      return (await findUsable(read, ids, now)).map(({ grant, role }) => standingOfGrant(grant.id, role));
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
