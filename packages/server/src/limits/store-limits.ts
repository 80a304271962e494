import { maxUsableKeys } from '../projects/projects.ts';
import { type Limit, refused } from './limit.ts';

/** Limits of the files address: files, collections, projects, keys and sessions. */
export const storeLimits = {
  file_bytes: {
    bounds: 'of an uploaded file',
    unit: 'bytes',
    value: (config) => config.maxFileBytes,
    setting: 'MAX_FILE_BYTES',
    above: refused('FILE_TOO_LARGE'),
  },
  keys_of_project: {
    bounds: 'that are usable keys of one project',
    unit: 'items',
    value: () => maxUsableKeys,
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
} as const satisfies Record<string, Limit>;
