import { maxCounted, maxSessions } from '@quartermaster/contract';
import { maxKeyTools } from '@quartermaster/contract/scopes';
import { maxAdministrators } from '../access/administrator/administrator-repository.ts';
import { longestUserAgent } from '../access/administrator/sessions.ts';
import { maxProjects, maxUsableKeys } from '../access/projects/projects.ts';
import { multipartLimits } from '../files/upload/multipart.ts';
import { longestOtherField } from '../files/upload/read-upload.ts';
import { type Limit, refused } from './limit.ts';

/** Limits of the files address: files, collections, projects, keys and sessions. */
export const storeLimits = {
  file_bytes: {
    bounds: 'an uploaded file',
    unit: 'bytes',
    value: (config) => config.maxFileBytes,
    setting: 'MAX_FILE_BYTES',
    above: refused('FILE_TOO_LARGE'),
  },
  uploads_in_flight: {
    bounds: 'uploads of one key at the same time, if no other key has any; a project alone has twice as many',
    unit: 'items',
    value: (config) => config.maxUploadsInFlight,
    setting: 'MAX_UPLOADS_IN_FLIGHT',
    above: refused('TOO_MANY_REQUESTS'),
  },
  project_bytes: {
    bounds: 'all files of one project and the data stored for its records, together',
    unit: 'bytes',
    value: (config) => config.maxProjectBytes,
    setting: 'MAX_PROJECT_BYTES',
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  files_of_project: {
    bounds: 'files of one project, those that are being deleted not counted',
    unit: 'items',
    value: (config) => config.maxFiles,
    setting: 'MAX_FILES',
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  counted_objects: {
    bounds: 'objects that the service counts for a list with `count=true`',
    unit: 'items',
    value: () => maxCounted,
    above: '`total_count_is_exact` is false.',
  },
  upload_parts: {
    bounds: 'parts of a multipart body',
    unit: 'items',
    value: () => multipartLimits.parts,
    above: refused('INVALID_REQUEST'),
  },
  upload_part_headers: {
    bounds: 'headers of one part',
    unit: 'items',
    value: () => multipartLimits.headerLines,
    above: refused('INVALID_REQUEST'),
  },
  upload_part_header_bytes: {
    bounds: 'the headers of one part',
    unit: 'bytes',
    value: () => multipartLimits.headerBytes,
    above: refused('INVALID_REQUEST'),
  },
  upload_field_bytes: {
    bounds: 'a part that is not the file',
    unit: 'bytes',
    value: () => longestOtherField,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  projects_of_installation: {
    bounds: 'projects of one installation',
    unit: 'items',
    value: () => maxProjects,
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  administrators_of_installation: {
    bounds: 'administrators of one installation',
    unit: 'items',
    value: () => maxAdministrators,
    above: refused('OBJECT_NOT_FOUND'),
  },
  keys_of_project: {
    bounds: 'usable keys of one project',
    unit: 'items',
    value: () => maxUsableKeys,
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  tools_of_key: {
    bounds: 'bundles and plugins that a key names in `tools`',
    unit: 'items',
    value: () => maxKeyTools,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  sessions_of_administrator: {
    bounds: 'sessions of one administrator',
    unit: 'items',
    value: () => maxSessions,
    above: 'the session that was used least recently ends',
  },
  session_user_agent: {
    bounds: 'the `User-Agent` that a session keeps',
    unit: 'characters',
    value: () => longestUserAgent,
    above: 'the rest is not stored',
  },
} as const satisfies Record<string, Limit>;
