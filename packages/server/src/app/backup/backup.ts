import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, cp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { mapWithConcurrency } from '../../platform/concurrency/map-with-concurrency.ts';
import type { DatabaseSnapshot, NamedFile, SnapshotBlob } from '../../platform/database-snapshot.ts';
import { exists } from '../../platform/disk/exists.ts';
import type { BlobFolder } from '../../storage/disk/blob-folder.ts';
import { type BlobDigest, BlobMissing, BlobUnreadable } from '../../stores/files/blob-store.ts';
import { type BlobTotals, readBlobList, writeBlobList } from './blob-list.ts';
import { unfinishedOf } from './new-folder.ts';
import {
  backupDamaged,
  deletedTooFast,
  earlierBackup,
  folderInside,
  folderWouldReplace,
  noBackupFolder,
  notABackup,
} from './problems.ts';

export interface CopyDeps {
  readonly source: { open(blobId: string): Promise<AsyncIterable<Uint8Array>> };
  readonly copy: Pick<BlobFolder, 'size' | 'remove' | 'write'>;
  /** The number of blobs that are copied at the same time. */
  readonly concurrency?: number;
  /** The path of the list of blobs. */
  readonly listFile: string;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
  /** Reads blobs that an earlier attempt has copied. They are copied again when their hash differs. Default: only the size counts. */
  readonly openCopy?: BlobFolder['open'];
}

export interface BackupDeps extends CopyDeps {
  readonly copy: CopyDeps['copy'] & Pick<BlobFolder, 'list'>;
  /** Copies the database into the backup and replaces an earlier copy. */
  readonly takeSnapshot: () => Promise<DatabaseSnapshot>;
}

/** The progress of copying blobs. Blobs that an earlier round copied count from the start. */
export interface CopyProgress extends BlobTotals {
  readonly blobsDone: number;
  readonly bytesDone: number;
}

/** A damaged file of the store. The backup still contains the rest of the store. */
export interface BackupFault {
  /** `content_differs`: the damaged bytes were copied unchanged. `unreadable`: the disk cannot read them. */
  readonly kind: 'bytes_missing' | 'content_differs' | 'unreadable';
  readonly blobId: string;
  readonly projectId: string | null;
  /** Some of the files that have this content. */
  readonly files: readonly NamedFile[];
}

export interface CopyReport extends BlobTotals {
  readonly faults: readonly BackupFault[];
}

/** Each round copies only new blobs. Several rounds are needed only if files are deleted continuously. */
const mostRounds = 20;
const copiesAtOnce = 8;

/**
 * Copies the database, then the bytes that it refers to. The snapshot is closed before the first byte is copied.
 * Missing bytes then belong to files deleted in the meantime, which a newer copy of the database no longer lists. Rounds
 * therefore repeat until nothing is missing, or until the same blobs are missing twice. Nothing is locked. Source: ADR
 * 0058, 0069.
 */
export async function copyStore(deps: BackupDeps): Promise<CopyReport> {
  let missing: ReadonlySet<string> = new Set();
  const damaged = new Set<string>();
  for (let round = 1; round <= mostRounds; round++) {
    const { totals } = await listBlobs(deps.listFile, deps.takeSnapshot);
    const { named, faults } = await copyBlobs(deps, totals, damaged);
    const lost = faults.filter(({ kind }) => kind === 'bytes_missing').map(({ blobId }) => blobId);
    if (lost.every((blobId) => missing.has(blobId))) {
      await removeOthers(deps.copy, named);
      return { ...totals, faults };
    }
    missing = new Set(lost);
  }
  throw deletedTooFast(mostRounds);
}

/** Copies the database and lists the blobs that it refers to. */
export async function listBlobs(listFile: string, takeSnapshot: BackupDeps['takeSnapshot']) {
  const snapshot = await takeSnapshot();
  try {
    return { store: snapshot.store, totals: await writeBlobList(listFile, snapshot) };
  } finally {
    await snapshot.close();
  }
}

/** Copies every blob of the list. @param damaged blobs that are recorded as damaged */
export async function copyBlobs(
  deps: CopyDeps,
  totals: BlobTotals,
  damaged: Set<string> = new Set(),
): Promise<{ readonly named: ReadonlySet<string>; readonly faults: readonly BackupFault[] }> {
  const named = new Set<string>();
  const faults: BackupFault[] = [];
  let [blobsDone, bytesDone] = [0, 0];
  const advance = (blobs: number, bytes: number) => {
    blobsDone += blobs;
    bytesDone += bytes;
    deps.onProgress?.({ ...totals, blobsDone, bytesDone });
  };
  for await (const blobs of readBlobList(deps.listFile)) {
    await mapWithConcurrency(blobs, deps.concurrency ?? copiesAtOnce, async (blob) => {
      named.add(blob.blobId);
      let copied = 0;
      const kind = await copyBlob(deps, blob, damaged, (bytes) => {
        copied += bytes;
        advance(0, bytes);
      });
      advance(1, blob.bytes - copied);
      if (kind !== undefined)
        faults.push({ kind, blobId: blob.blobId, projectId: blob.projectId, files: blob.files ?? [] });
    });
  }
  return { named, faults };
}

async function copyBlob(
  { source, copy, openCopy }: CopyDeps,
  { blobId, bytes, sha256 }: SnapshotBlob,
  damaged: Set<string>,
  advance: (bytes: number) => void,
): Promise<BackupFault['kind'] | undefined> {
  if (damaged.has(blobId)) return 'content_differs';
  const isCopied = (await copy.size(blobId)) === bytes;
  if (isCopied && (openCopy === undefined || (await hashOf(await openCopy(blobId))) === sha256)) return undefined;
  let digest: BlobDigest;
  try {
    digest = await copy.write(blobId, counted(await source.open(blobId), advance));
  } catch (error) {
    if (error instanceof BlobMissing) return 'bytes_missing';
    if (!(error instanceof BlobUnreadable)) throw error;
    await copy.remove(blobId);
    return 'unreadable';
  }
  if (digest.sha256 === sha256) return undefined;
  damaged.add(blobId);
  return 'content_differs';
}

async function* counted(content: AsyncIterable<Uint8Array>, advance: (bytes: number) => void) {
  for await (const piece of content) {
    // The consumer may free the piece.
    const { length } = piece;
    yield piece;
    advance(length);
  }
}

/**
 * Removes blobs of files that were deleted since an earlier round, because a deleted file does not belong in the
 * backup.
 */
async function removeOthers(copy: BackupDeps['copy'], named: ReadonlySet<string>): Promise<void> {
  for await (const { blobId } of copy.list()) if (!named.has(blobId)) await copy.remove(blobId);
}

/**
 * Checks that a new folder and a folder in use do not overlap. `createFolder` empties `<folder>.unfinished`, so the
 * folder in use must not be inside that one either. Follows symbolic links.
 * @param used the folder in use and its description, for example "data folder"
 * @throws BackupError when they overlap; nothing is written
 */
export async function checkApart(
  folder: string,
  used: { readonly what: string; readonly folder: string },
): Promise<void> {
  const [target, unfinished, other] = await Promise.all([folder, unfinishedOf(folder), used.folder].map(resolveLinks));
  // `createFolder` refuses the folder in use itself, because it exists.
  if (target !== other && isWithin(target, other)) throw folderInside(folder, used);
  if (isWithin(other, unfinished)) throw folderWouldReplace(unfinishedOf(folder), used);
}

/** Returns the real path of a folder. Neither the folder nor its parents need to exist. */
async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const isMissing =
      error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
    if (!isMissing || dirname(path) === path) throw error;
    return join(await resolveLinks(dirname(path)), basename(path));
  }
}

function isWithin(path = '', folder = ''): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

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
  /** Set when the content stays in object storage, with the id of the store and the days for which deleted content is kept. */
  objects: Type.Optional(
    Type.Object({ storeId: Type.String(), place: Type.String(), keepDeletedDays: Type.Integer() }),
  ),
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

const hashFile = (path: string) => hashOf(createReadStream(path, { highWaterMark: 2 ** 20 }));

async function hashOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of content) hash.update(piece);
  return hash.digest('hex');
}

/** The maximum number of attempts. A copy during the short replacement of a bundle is repeated. */
const mostAttempts = 10;

/**
 * Copies the installed bundles: folders of versions, and links to the current version. Does nothing when no bundle was
 * ever installed.
 */
export async function copyBundles(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await cp(from, to, { recursive: true, verbatimSymlinks: true });
      for (const name of await readdir(to)) await access(join(to, name));
      return;
    } catch (error) {
      await rm(to, { recursive: true, force: true });
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (isGone && !(await exists(from))) return;
      if (!isGone || attempt === mostAttempts) throw error;
    }
  }
}
