import { lstat, readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { type OpenedArchive, openArchive, writeArchive } from './archive.ts';
import { bundleLimits, describePathError, listFile, writeContents } from './contents.ts';
import { bundleNotPackable, keyUnreadable } from './problems.ts';
import { isPrivateKey, readPrivateKey, sign } from './signatures.ts';

export interface PackOptions {
  readonly folder: string;
  readonly bundleId: string;
  readonly version: string;
  /** The file of the publisher's private key; null for an unsigned archive. */
  readonly keyFile: string | null;
}

export interface PackedBundle {
  readonly archive: OpenedArchive;
  readonly bytes: Buffer;
  /** `weather-1.2.0-<first 12 characters of the digest>.qmb` */
  readonly fileName: string;
}

/** Creates an archive of a bundle that loads. The same files give the same bytes. @throws PackagingError */
export async function packBundle({ folder, bundleId, version, keyFile }: PackOptions): Promise<PackedBundle> {
  const files = await readFiles(folder);
  for (const [path, content] of files) {
    if (isPrivateKey(content)) throw bundleNotPackable(`${path} is a private key`, 'Move it out of the folder.');
    if (/\.(ts|mjs|js)$/.test(path)) refuseImports(path, content);
  }
  const listed = [...files].map(([path, content]) => listFile(path, content));
  const contentsBytes = writeContents({ bundleId, version, files: listed });
  const signature = keyFile === null ? null : sign(contentsBytes, await readKey(keyFile));
  const bytes = writeArchive({ contentsBytes, signature, files });
  // Verifies the archive as an installation would.
  const archive = await openArchive(bytes);
  return { archive, bytes, fileName: `${bundleId}-${version}-${archive.digest.slice(0, 12)}.qmb` };
}

async function readKey(file: string) {
  const key = readPrivateKey(await readFile(file, 'utf8'));
  if (key === undefined) throw keyUnreadable(file);
  return key;
}

/** Reads all files except hidden ones and installed packages. */
async function readFiles(folder: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  let remaining: number = bundleLimits.bytes;
  for (const path of await listFiles(folder)) {
    const reason = describePathError(path);
    if (reason !== null) throw bundleNotPackable(`the name ${JSON.stringify(path)} is ${reason}`, 'Rename the file.');
    const stats = await lstat(join(folder, path));
    if (!stats.isFile())
      throw bundleNotPackable(`${path} is not a regular file`, 'Replace it by a file, or remove it.');
    remaining -= stats.size;
    if (stats.size > bundleLimits.fileBytes || remaining < 0 || files.size >= bundleLimits.files) {
      throw bundleNotPackable(
        `${path} exceeds the limits of a bundle: at most ${bundleLimits.files} files, ${bundleLimits.fileBytes} bytes each, ${bundleLimits.bytes} bytes in total`,
        'Remove files that the bundle does not need.',
      );
    }
    files.set(path, await readFile(join(folder, path)));
  }
  return files;
}

async function listFiles(folder: string, prefix = ''): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) found.push(...(await listFiles(folder, `${path}/`)));
    else found.push(path);
  }
  return found.sort();
}

/** Refuses imports of packages, because an installation does not resolve dependencies. */
function refuseImports(path: string, content: Buffer): void {
  const source = content.toString('utf8');
  let code = source;
  try {
    if (path.endsWith('.ts')) code = stripTypeScriptTypes(source);
  } catch {
    throw bundleNotPackable(
      `Node.js cannot run ${path} by removing its types`,
      'Replace syntax that needs a compiler, for example enums and decorators.',
    );
  }
  const outside = importedNames(code).find((name) => !/^\.{1,2}\//.test(name));
  if (outside !== undefined) {
    throw bundleNotPackable(
      `${path} imports ${JSON.stringify(outside)}, and an installation installs no packages`,
      'Copy the code into the folder of the bundle and import it by a relative path.',
    );
  }
}

/** The quoted names after import keywords. Two patterns are used, because a combined one takes quadratic time. */
function importedNames(code: string): string[] {
  const quoted = /\s*(?:\(\s*)?['"]([^'"\n]+)['"]/y;
  return [...code.matchAll(/\b(?:from|import|require)\b/g)].flatMap(({ index, 0: word }) => {
    quoted.lastIndex = index + word.length;
    return quoted.exec(code)?.[1] ?? [];
  });
}
