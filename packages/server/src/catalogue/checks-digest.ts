import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Code that decides what is right: this room, and the schemas of manifests with the words they use. */
const folders = [import.meta.dirname, folderOf('@quartermaster/plugin-kit'), folderOf('@quartermaster/contract')];
/** Names the exact versions of the libraries. */
const dependencies = join(import.meta.dirname, '..', '..', 'package.json');

/**
 * Stands for the checks that manifests go through here. What other code has found right is not known to be right:
 * with another digest nothing that was kept counts. Of the code, not of a version: a clone has many with one number.
 */
export function checksDigest(): string {
  const digest = createHash('sha256').update(`${process.version}\n`).update(readFileSync(dependencies));
  for (const folder of folders) {
    for (const name of readdirSync(folder).sort()) {
      if (!/^[^.]+\.[jt]s$/.test(name)) continue;
      digest.update(`\n${name}\n`).update(readFileSync(join(folder, name)));
    }
  }
  return digest.digest('base64url');
}

function folderOf(entry: string): string {
  return dirname(fileURLToPath(import.meta.resolve(entry)));
}
