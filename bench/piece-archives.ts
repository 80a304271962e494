import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packPackage } from '../packages/cli/src/bundles/pack-package.ts';
import { type PiecePackage, readPiecePackage } from '../packages/server/src/tools/installation/piece-package.ts';

/** A package as an operator installs it: as published, or bundled with its dependencies on a workstation. */
export interface PieceArchive {
  readonly kind: 'self-contained' | 'packed';
  readonly read: PiecePackage;
}

/**
 * Downloads a package with npm, and packs it when it needs others. Downloads once per version.
 * @param wanted the name and the version, as `@activepieces/piece-slack@0.17.9`
 * @param cache the folder of the archives
 */
export async function fetchPiece(wanted: string, cache: string): Promise<PieceArchive> {
  const folders = { published: join(cache, 'orig'), packed: join(cache, 'packed') };
  const name = `${wanted.replace(/^@/, '').replaceAll(/[/@]/g, '-')}.tgz`;
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });
  const published = join(folders.published, name);
  const options = ['--silent', '--ignore-scripts', '--pack-destination', folders.published];
  if (!existsSync(published)) await promisify(execFile)('npm', ['pack', wanted, ...options]);
  try {
    return { kind: 'self-contained', read: await readPiecePackage(await readFile(published)) };
  } catch (error) {
    if (!/needs \d+ other packages/.test(String(error))) throw error;
  }
  const packed = join(folders.packed, name.replace(/\.tgz$/, '-packed.tgz'));
  if (!existsSync(packed)) await packPackage(wanted, folders.packed);
  return { kind: 'packed', read: await readPiecePackage(await readFile(packed)) };
}
