import { parse } from 'yaml';
import { type OpenedArchive, openArchive, writeArchive } from '../packaging/archive.ts';
import { listFile, writeContents } from '../packaging/contents.ts';

export const manifestName = 'bundle.yaml';

export interface PackedBundle {
  readonly bytes: Buffer;
  readonly archive: OpenedArchive;
}

/** Creates the archive of a bundle's files, as `packFiles` does. */
export async function archiveOf(files: ReadonlyMap<string, Buffer>): Promise<PackedBundle> {
  const bytes = packFiles(files);
  return { bytes, archive: await openArchive(bytes) };
}

/** Returns the bytes of an unsigned archive of a bundle's files. The same files give the same digest. */
export function packFiles(files: ReadonlyMap<string, Buffer>): Buffer {
  const { id: bundleId, version } = parse(files.get(manifestName)?.toString() ?? '');
  const listed = [...files].map(([path, content]) => listFile(path, content));
  return writeArchive({ contentsBytes: writeContents({ bundleId, version, files: listed }), signature: null, files });
}
