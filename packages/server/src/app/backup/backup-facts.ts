import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { exists } from '../../platform/disk/exists.ts';
import { backupDamaged, earlierBackup, noBackupFolder, notABackup } from './problems.ts';

const format = 3;

/** The content of `backup.json`. */
const BackupFacts = Type.Object({
  format: Type.Literal(format),
  made: Type.String(),
  version: Type.String(),
  database: Type.Object({ kind: Type.Enum(['sqlite', 'postgres']), file: Type.String(), schema: Type.String() }),
  blobs: Type.Integer(),
  bytes: Type.Integer(),
  faults: Type.Array(Type.Unknown()),
  /** SHA-256 of each file other than the blobs, by name. */
  hashes: Type.Record(Type.String(), Type.String()),
});
export type BackupFacts = Static<typeof BackupFacts>;

const factsFile = 'backup.json';

/** Writes `backup.json` with the hashes of these files of the backup. */
export async function writeBackupFacts(
  folder: string,
  facts: Omit<BackupFacts, 'format' | 'hashes'>,
  files: readonly string[],
): Promise<void> {
  const hashes: Record<string, string> = {};
  for (const file of files) hashes[file] = await hashFile(join(folder, file));
  const text = JSON.stringify({ format, ...facts, hashes }, null, 2);
  await writeFile(join(folder, factsFile), `${text}\n`, { mode: 0o600 });
}

/** Reads `backup.json` and compares the hashes in it. @throws BackupError when the folder is not a backup or is damaged */
export async function readBackupFacts(folder: string): Promise<BackupFacts> {
  if (!(await exists(folder))) throw noBackupFolder(folder);
  let facts: unknown;
  try {
    facts = JSON.parse(await readFile(join(folder, factsFile), 'utf8'));
  } catch (error) {
    throw notABackup(folder, error);
  }
  if (hasEarlierFormat(facts)) throw earlierBackup(folder);
  if (!Value.Check(BackupFacts, facts)) throw notABackup(folder);
  for (const [file, hash] of Object.entries(facts.hashes)) {
    const found = await hashFile(join(folder, file)).catch(() => 'none');
    if (found !== hash) throw backupDamaged(file);
  }
  return facts;
}

function hasEarlierFormat(facts: unknown): boolean {
  return Value.Check(Type.Object({ format: Type.Integer({ maximum: format - 1 }) }), facts);
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(piece);
  return hash.digest('hex');
}
