import { projectText, readProject } from '../../platform/project-text.ts';
import type { StoredArtifact } from '../../stores/files/file-repository.ts';
import type { ArtifactRepository } from '../../tools/artifacts/artifact-repository.ts';
import type { Database } from '../database/database.ts';
import { areAtLeast } from '../database/row-limit.ts';

/** The purpose of the `file` row of an artifact. No upload can have it. */
export const artifactPurpose = 'artifact';

/** Stores artifacts in either database. `createFileRepository` adds and deletes their rows. */
export function createArtifactRepository({ read }: Database): ArtifactRepository {
  return {
    find: async (projectId, artifactId): Promise<StoredArtifact | undefined> => {
      const row = await read
        .selectFrom('artifact')
        .innerJoin('file', 'file.id', 'artifact.id')
        .select(['file.id', 'file.project_id', 'file.blob_id', 'file.name', 'file.bytes', 'file.sha256'])
        .select(['file.created_at', 'artifact.key_id', 'artifact.run_id', 'artifact.media_type', 'artifact.expires_at'])
        .where('artifact.id', '=', artifactId)
        .where('artifact.project_id', '=', projectText(projectId))
        .where('file.state', '=', 'live')
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return {
        id: row.id,
        projectId: readProject(row.project_id),
        blobId: row.blob_id,
        name: row.name,
        bytes: Number(row.bytes),
        sha256: row.sha256,
        createdAt: Number(row.created_at),
        keyId: row.key_id,
        runId: row.run_id,
        mediaType: row.media_type,
        expiresAt: Number(row.expires_at),
      };
    },
    hasAtLeast: async (projectId, most) =>
      await areAtLeast(
        read.selectFrom('artifact').select('id').where('project_id', '=', projectText(projectId)).orderBy('id'),
        most,
      ),
    findExpired: async (now, limit) => {
      const rows = await read
        .selectFrom('artifact')
        .innerJoin('file', 'file.id', 'artifact.id')
        .select(['artifact.id', 'artifact.project_id'])
        .where('artifact.expires_at', '<=', now)
        .where('file.state', '=', 'live')
        .orderBy('artifact.expires_at')
        .limit(limit)
        .execute();
      return rows.map(toExpired);
    },
    countStored: async () => {
      // SQLite would read all files with an inner join, and look for each in the artifacts.
      const { artifacts, bytes } = await read
        .selectFrom('artifact')
        .crossJoin('file')
        .whereRef('file.id', '=', 'artifact.id')
        .select((it) => [it.fn.countAll().as('artifacts'), it.fn.sum('file.bytes').as('bytes')])
        .where('file.state', '=', 'live')
        .executeTakeFirstOrThrow();
      return { artifacts: Number(artifacts), bytes: Number(bytes ?? 0) };
    },
  };
}

function toExpired(row: { readonly id: string; readonly project_id: string }) {
  return { artifactId: row.id, projectId: readProject(row.project_id) };
}
