import { readProject } from '../../platform/project-text.ts';
import type { BlobDamage, BlobRepository, Verification } from '../../stores/files/blob-repository.ts';
import type { Database } from '../database/database.ts';
import { countDeleted } from '../database/deleted-projects.ts';

/** Stores damage and verification of blobs in either database. */
export function createBlobRepository(database: Database): BlobRepository {
  const { read, write } = database;
  return {
    ...damageOf(database),
    replacedBlobs: async (limit) => {
      const rows = await read
        .selectFrom('blob')
        .select('id')
        .where('state', '=', 'deleting')
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('file').select('file.id').whereRef('file.blob_id', '=', 'blob.id'))),
        )
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map((row) => row.id);
    },
    forgetReplaced: async (blobId) => {
      await write.transaction().execute(async (transaction) => {
        const deleted = await transaction
          .deleteFrom('blob')
          .where('id', '=', blobId)
          .where('state', '=', 'deleting')
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom('file').select('file.id').where('file.blob_id', '=', blobId))),
          )
          .returning(['project_id', 'bytes'])
          .executeTakeFirst();
        if (deleted !== undefined)
          await countDeleted(transaction, deleted.project_id, { bytes: Number(deleted.bytes) });
      });
    },
    ...verificationOf(database),
  };
}

type DamagePart = 'recordDamage' | 'clearDamage' | 'countDamaged' | 'filesOf';

function damageOf({ read, write }: Database): Pick<BlobRepository, DamagePart> {
  return {
    recordDamage: async (blobId, damage, at) => {
      const live = write.updateTable('blob').where('id', '=', blobId).where('state', '=', 'live');
      // Damaged bytes are moved to the quarantine and are then missing too. The first finding is the cause.
      const effects: BlobDamage[] = damage === 'missing' ? ['missing', 'content_differs', 'size_differs'] : [damage];
      const recorded = await live
        .set({ damage, damaged_at: at })
        .where((row) => row.or([row('damage', 'is', null), row('damage', 'not in', effects)]))
        .executeTakeFirst();
      if (recorded.numUpdatedRows === 1n) return 'recorded';
      const known = await read.selectFrom('blob').select('state').where('id', '=', blobId).executeTakeFirst();
      return known?.state === 'live' ? 'known' : 'gone';
    },
    clearDamage: async (blobId) => {
      await write
        .updateTable('blob')
        .set({ damage: null, damaged_at: null })
        .where('id', '=', blobId)
        .where('damage', 'is not', null)
        .execute();
    },
    countDamaged: async () => {
      const row = await read
        .selectFrom('blob')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('damage', 'is not', null)
        .where('state', '=', 'live')
        .executeTakeFirst();
      return Number(row?.count ?? 0);
    },
    filesOf: async (blobIds, limit) => {
      if (blobIds.length === 0) return [];
      const rows = await read
        .selectFrom('file')
        .select(['blob_id as blobId', 'id as fileId', 'name', 'project_id'])
        .where('blob_id', 'in', blobIds)
        .where('state', '=', 'live')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(({ project_id, ...file }) => ({ ...file, projectId: readProject(project_id) }));
    },
  };
}

type VerificationPart = 'findVerification' | 'saveVerification' | 'pauseVerification';

function verificationOf({ read, write }: Database): Pick<BlobRepository, VerificationPart> {
  const id = 'blobs' as const;
  return {
    findVerification: async (): Promise<Verification | undefined> => {
      const row = await read.selectFrom('verification').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) return undefined;
      return {
        position: row.position,
        passStartedAt: Number(row.pass_started_at),
        passBlobs: Number(row.pass_blobs),
        passBytes: Number(row.pass_bytes),
        finishedAt: row.finished_at === null ? null : Number(row.finished_at),
        paused: Number(row.paused) === 1,
      };
    },
    saveVerification: async (progress) => {
      const values = {
        position: progress.position,
        pass_started_at: progress.passStartedAt,
        pass_blobs: progress.passBlobs,
        pass_bytes: progress.passBytes,
        finished_at: progress.finishedAt,
      };
      await write
        .insertInto('verification')
        .values({ id, ...values, paused: 0 })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
    },
    pauseVerification: async (paused) => {
      const state = { paused: paused ? 1 : 0 };
      // Stands for a pass that ended long ago.
      const first = { id, position: '', pass_started_at: 0, pass_blobs: 0, pass_bytes: 0, finished_at: 0 };
      await write
        .insertInto('verification')
        .values({ ...first, ...state })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(state))
        .execute();
    },
  };
}
