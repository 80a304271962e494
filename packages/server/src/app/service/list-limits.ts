import { type ErrorCode, errorCodes, type Limit, textLimits } from '@quartermaster/contract';
import { freeAttempts } from '../../access/accounts/sign-in-throttle.ts';
import { maxBodyBytes } from '../../platform/http/create-app.ts';
import { fileInputLimits } from '../../tools/execution/file-inputs/file-inputs.ts';
import { asyncRunDefaults } from '../../tools/runs/async-runs.ts';
import type { Config } from '../settings/config.ts';

/** Bounds of one project. */
export const recordBounds = { collections: 10_000, waitingRecords: 20_000 } as const;

interface Row {
  readonly bounds: string;
  readonly unit?: 'bytes' | 'characters';
  readonly code: ErrorCode;
  readonly setting?: string;
  /** Reads what enforces the limit. */
  readonly value: (config: Config) => number | null;
}

/**
 * The limits that a client can act on: it splits what is too large, waits, or deletes what it no longer needs. The schemas state
 * the bounds of single fields.
 */
const rows: Readonly<Record<string, Row>> = {
  json_body_bytes: { bounds: 'a JSON body', unit: 'bytes', code: 'FILE_TOO_LARGE', value: () => maxBodyBytes },
  file_bytes: {
    bounds: 'an uploaded file',
    unit: 'bytes',
    code: 'FILE_TOO_LARGE',
    setting: 'MAX_FILE_BYTES',
    value: ({ maxFileBytes }) => maxFileBytes,
  },
  uploads_in_flight: {
    bounds:
      'uploads of one key at the same time on all nodes, which have equal parts, if no other key has any; a project alone has twice as many',
    code: 'TOO_MANY_REQUESTS',
    setting: 'MAX_UPLOADS_IN_FLIGHT',
    value: ({ maxUploadsInFlight }) => maxUploadsInFlight,
  },
  project_bytes: {
    bounds:
      'all files, records, chunks and collections of one project, with their names, metadata and reports, together',
    unit: 'bytes',
    code: 'RESOURCE_LIMIT_REACHED',
    setting: 'MAX_PROJECT_BYTES',
    value: ({ maxProjectBytes }) => maxProjectBytes,
  },
  files_of_project: {
    bounds: 'files of one project, those that are being deleted not counted',
    code: 'RESOURCE_LIMIT_REACHED',
    setting: 'MAX_FILES',
    value: ({ maxFiles }) => maxFiles,
  },
  collections_of_project: {
    bounds: 'collections of one project, those that are being deleted included',
    code: 'RESOURCE_LIMIT_REACHED',
    value: () => recordBounds.collections,
  },
  records_of_collection: {
    bounds: 'records of one collection',
    code: 'RESOURCE_LIMIT_REACHED',
    setting: 'MAX_RECORDS',
    value: ({ maxRecords }) => maxRecords,
  },
  waiting_records: {
    bounds: 'records of one project that wait to be processed or are in work',
    code: 'RESOURCE_LIMIT_REACHED',
    value: () => recordBounds.waitingRecords,
  },
  content_characters: {
    bounds: 'the text of a chunk or of a record of type `text`',
    unit: 'characters',
    code: 'REQUEST_VALIDATION_ERROR',
    value: () => textLimits.content,
  },
  runs_of_key: {
    bounds:
      'runs of one key at the same time on all nodes, which have equal parts, if no other key has any; a project alone, or all callers without a key, have twice as many',
    code: 'TOO_MANY_REQUESTS',
    setting: 'MAX_RUNS_OF_KEY',
    value: ({ maxRunsOfKey }) => maxRunsOfKey,
  },
  queued_runs_of_key: {
    bounds:
      'asynchronous runs of one key on all nodes, which have equal parts, if no other key has any; a project alone has twice as many',
    code: 'TOO_MANY_REQUESTS',
    value: () => asyncRunDefaults.maxAccepted / 4,
  },
  sign_in_attempts_of_account: {
    bounds: 'failed sign-ins of one account within 15 minutes; each further one waits longer',
    code: 'TOO_MANY_REQUESTS',
    value: () => freeAttempts.account,
  },
  sign_in_attempts_of_address: {
    bounds: 'failed sign-ins from one address within 15 minutes; further ones wait until these are over',
    code: 'TOO_MANY_REQUESTS',
    value: () => freeAttempts.address,
  },
  input_file_bytes: {
    bounds: 'the files and artifacts that one input names, together',
    unit: 'bytes',
    code: 'FILE_TOO_LARGE',
    value: () => fileInputLimits.inputBytes,
  },
};

export function listLimits(config: Config): Limit[] {
  return Object.entries(rows).map(([name, { bounds, unit = 'items', code, setting, value }]) => ({
    name,
    bounds,
    value: value(config),
    unit,
    status: errorCodes[code].status,
    code,
    setting: setting === undefined ? null : `QUARTERMASTER_${setting}`,
  }));
}
