import { bundleLimits as bounds } from '../packaging/contents.ts';
import type { Limit } from './limit.ts';

const above = 'The archive is refused.';

/** Limits of bundle archives, whether they are packed or installed. */
export const bundleLimits = {
  bundle_archive_bytes: {
    bounds: 'a bundle archive',
    unit: 'bytes',
    value: () => bounds.archiveBytes,
    above,
  },
  bundle_files: {
    bounds: 'files of a bundle',
    unit: 'items',
    value: () => bounds.files,
    above,
  },
  bundle_file_bytes: {
    bounds: 'one unpacked file of a bundle',
    unit: 'bytes',
    value: () => bounds.fileBytes,
    above,
  },
  bundle_bytes: {
    bounds: 'all unpacked files of a bundle archive together, `contents.json` and `signature.json` included',
    unit: 'bytes',
    value: () => bounds.bytes,
    above,
  },
  bundle_path_characters: {
    bounds: 'the path of a file in its bundle',
    unit: 'characters',
    value: () => bounds.pathLength,
    above,
  },
  bundle_path_parts: {
    bounds: 'parts of the path of a file in its bundle: folders and the name',
    unit: 'items',
    value: () => bounds.depth,
    above,
  },
} as const satisfies Record<string, Limit>;
