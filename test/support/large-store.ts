import { createHash } from 'node:crypto';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createNewId } from '../../packages/server/src/platform/identifier.ts';

/** Additional files of a store: many small ones, and a large one that is sparse on the disk. */
export interface LargeStore {
  readonly smallFiles: number;
  readonly largeBytes: number;
}

/** Adds files to an SQLite store that no process uses. Through the service they would take minutes. */
export async function enlargeStore(folder: string, { smallFiles, largeBytes }: LargeStore): Promise<void> {
  const database = new DatabaseSync(join(folder, 'quartermaster.db'));
  const newId = createNewId();
  const projectId = String(database.prepare('select id from project').get()?.id);
  const addBlob = database.prepare(
    `insert into blob (id, project_id, sha256, bytes, state, created_at) values (?, ?, ?, ?, 'live', 1)`,
  );
  const addFile = database.prepare(
    `insert into file (id, project_id, blob_id, name, purpose, extension, bytes, sha256, state, created_at)
     values (?, ?, ?, 'one.txt', 'record_file', 'txt', ?, ?, 'live', 1)`,
  );
  const add = async (sha256: string, bytes: number, write: (path: string) => Promise<void>) => {
    const blobId = newId('blob');
    const bucket = join(folder, 'blobs', blobId.slice(4, 8));
    await mkdir(bucket, { recursive: true });
    await write(join(bucket, blobId));
    addBlob.run(blobId, projectId, sha256, bytes);
    addFile.run(newId('file'), projectId, blobId, bytes, sha256);
  };
  database.exec('begin');
  for (let index = 0; index < smallFiles; index += 1) {
    const text = `The small file ${index}.`;
    await add(hashOf([text]), Buffer.byteLength(text), (path) => writeFile(path, text));
  }
  if (largeBytes > 0) {
    const zeros = Buffer.alloc(2 ** 20);
    const sha256 = hashOf(Array.from({ length: largeBytes / zeros.length }, () => zeros));
    await add(sha256, largeBytes, async (path) => {
      await writeFile(path, '');
      await truncate(path, largeBytes);
    });
  }
  database.exec('delete from project_usage');
  database.exec(
    'insert into project_usage (project_id, file_bytes, file_count) select project_id, sum(bytes), count(*) from file group by project_id',
  );
  database.exec('commit');
  database.close();
}

function hashOf(pieces: Iterable<string | Buffer>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}
