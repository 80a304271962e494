import { chmod, mkdir, open, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncToDisk } from '../../platform/disk/sync-to-disk.ts';
import { type OpenedArchive, writeArchive } from './archive.ts';
import { archiveId, type Contents, readContents, sha256 } from './contents.ts';
import { isPublicKeyText, type PublicKeyText } from './signatures.ts';

/** An installed version of a bundle and its publisher. */
export interface InstalledBundle {
  readonly bundleId: string;
  readonly contents: Contents;
  /** `weather@1.2.0+sha256.<digest>` */
  readonly id: string;
  /** null when the archive was not signed. */
  readonly publisher: PublicKeyText | null;
}

export const signatureFileName = 'seal.json';

/** Writes the files of a version and its signature file into a new folder. Everything is synced to disk when it resolves. */
export async function writeVersion(
  version: string,
  { contents, contentsBytes, signature, files, installedAt }: OpenedArchive & { readonly installedAt: number },
): Promise<void> {
  const root = join(version, contents.bundleId);
  const folders = new Set([version, root]);
  for (const path of files.keys()) addFolders(root, dirname(path), folders);
  for (const folder of folders) await createReadableFolder(folder);
  for (const [path, content] of files) await writeSynced(join(root, path), content);
  const signatureFile = { contents: contentsBytes.toString('utf8'), signature, installed_at: installedAt };
  await writeSynced(join(version, signatureFileName), Buffer.from(`${JSON.stringify(signatureFile, null, 2)}\n`));
  for (const folder of folders) await syncToDisk(folder);
}

/** Adds a folder after its parents. */
function addFolders(root: string, path: string, folders: Set<string>): void {
  if (path === '.') return;
  addFolders(root, dirname(path), folders);
  folders.add(join(root, path));
}

/**
 * Creates a folder that all users can read, whatever the umask is, because handlers run as a different user from the
 * service.
 */
export async function createReadableFolder(path: string): Promise<void> {
  const created = await mkdir(path, { recursive: true });
  if (created !== undefined) await chmod(path, 0o755);
}

async function writeSynced(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.chmod(0o644);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads the signature file; undefined when it is missing or damaged. */
export async function readSignatureFile(version: string): Promise<InstalledBundle | undefined> {
  try {
    const { contents: text, signature } = JSON.parse(await readFile(join(version, signatureFileName), 'utf8'));
    const bytes = Buffer.from(String(text));
    const contents = readContents(bytes);
    const publisher: unknown = signature === null ? null : signature.public_key;
    if (publisher !== null && !isPublicKeyText(publisher)) return undefined;
    return { bundleId: contents.bundleId, contents, id: archiveId(contents, sha256(bytes)), publisher };
  } catch {
    return undefined;
  }
}

/** Returns the archive of a version. Its files are not verified. @throws Error when one of them cannot be read */
export async function packVersion(version: string): Promise<Buffer> {
  const { contents, signature } = JSON.parse(await readFile(join(version, signatureFileName), 'utf8'));
  const contentsBytes = Buffer.from(String(contents));
  const { bundleId, files } = readContents(contentsBytes);
  const read = async ({ path }: { path: string }) =>
    [path, await readFile(join(version, bundleId, ...path.split('/')))] as const;
  return writeArchive({ contentsBytes, signature, files: new Map(await Promise.all(files.map(read))) });
}

/** Whether the files of a version are exactly those of the archive. */
export async function isIntact(version: string, { contents, files }: OpenedArchive): Promise<boolean> {
  const root = join(version, contents.bundleId);
  try {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    if (entries.filter((entry) => !entry.isDirectory()).length !== files.size) return false;
    for (const [path, content] of files) if (!content.equals(await readFile(join(root, path)))) return false;
    return true;
  } catch {
    return false;
  }
}
