import type { Setting } from './setting.ts';
import { anyText, checkEncryptionKeys, wholeNumber } from './setting-checks.ts';

/** Where files and rows are stored, and the limits of uploads and of reading documents. */
export const storeSettings = {
  DATA: {
    description: 'Store the database, the files and the first key in this folder. It is created if it does not exist',
    default: './data',
    check: anyText,
  },
  DATABASE_URL: {
    description: 'Use this PostgreSQL database (15 or later), `postgres://…`. Unset: SQLite in the data folder',
    default: null,
    check: (text) => (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? null : 'must be a postgres:// URL'),
    secret: true,
  },
  DATABASE_URL_FILE: {
    description: 'Read DATABASE_URL from this file, so that its password is not in the environment of the process',
    default: null,
    check: anyText,
  },
  SEALING_KEY: {
    description:
      'Encrypt stored credentials with these keys, separated by commas, each the base64 encoding of 32 bytes. The first key encrypts; all keys decrypt. `quartermaster profile new-key` prints one. If this and SEALING_KEY_FILE are unset, SQLite uses the file `encryption-key` in the data folder, created at the first start; with PostgreSQL there are no credential profiles',
    default: null,
    check: checkEncryptionKeys,
    secret: true,
  },
  SEALING_KEY_FILE: {
    description: 'Read the encryption keys from this file, one per line; the first key encrypts',
    default: null,
    check: anyText,
  },
  MAX_FILE_BYTES: {
    description: 'Refuse uploads of files larger than this many bytes (413)',
    default: String(512 * 1024 * 1024),
    check: wholeNumber(1, 5 * 1024 ** 3),
  },
  MAX_PROJECT_BYTES: {
    description:
      'Refuse uploads (429), and end records in error, that would make the files and the stored records of a project larger than this many bytes. Unset: no quota',
    default: null,
    check: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  },
  MAX_FILES: {
    description: 'Refuse uploads (429) when a project has this many files',
    default: '1000000',
    check: wholeNumber(1, 1_000_000_000),
  },
  MIN_FREE_DISK_MB: {
    description:
      'Refuse uploads with INSUFFICIENT_STORAGE while less than this many MiB are free on the disk of the data folder. With SQLite, records wait and runs are refused while less than half of it, or less than 16 MiB, is free. 0: refuse uploads only while the reserved space, the file `ballast`, is in use',
    default: '256',
    check: wholeNumber(0, 1_000_000_000),
  },
  QUARANTINE_DAYS: {
    description:
      'Erase content without a file after this many days in the folder `quarantine` of the data folder. If the free space falls below MIN_FREE_DISK_MB, the oldest content is erased earlier',
    default: '30',
    check: wholeNumber(1, 3650),
  },
  VERIFICATION_DAYS: {
    description: 'Verify the hash of every stored file once in this many days, in the background',
    default: '7',
    check: wholeNumber(1, 365),
  },
  VERIFICATION_MB_PER_SECOND: {
    description:
      'Read at most this many MiB per second for the background verification of stored files, and as many for that of the tables of SQLite. 0: no verification',
    default: '16',
    check: wholeNumber(0, 10_000),
  },
  MAX_UPLOADS_IN_FLIGHT: {
    description:
      'Refuse uploads (429) while this many uploads of the key are in progress. A project has at most twice as many, and all projects together four times as many',
    default: '256',
    check: wholeNumber(1, 10_000),
  },
  MAX_COLLECTIONS: {
    description: 'Refuse new collections (429) when a project has this many',
    default: '10000',
    check: wholeNumber(1, 1_000_000),
  },
  MAX_RECORDS: {
    description: 'Refuse new records (429) when a collection has this many',
    default: '1000000',
    check: wholeNumber(1, 100_000_000),
  },
  MAX_WAITING_RECORDS: {
    description:
      'Refuse new records (429) while this many records of the project are waiting or being processed. Each new record counts them: with PostgreSQL, 100,000 delay it by up to 50 ms',
    default: '20000',
    check: wholeNumber(1, 1_000_000),
  },
  QUESTION_SECONDS: {
    description:
      'Stop a question to a collection after this many seconds and answer 503. A question also stops when its client disconnects',
    default: '10',
    check: wholeNumber(1, 3600),
  },
  SEARCH_CACHE_MB: {
    description:
      'Keep at most this many MiB of search indexes in memory in each thread that answers questions: one with PostgreSQL, up to two with SQLite. A question reads what is missing from the database',
    default: '80',
    check: wholeNumber(5, 65_536),
  },
  UPLOAD_IDLE_SECONDS: {
    description: 'Abort an upload after this many seconds without data',
    default: '30',
    check: wholeNumber(1, 3600),
  },
  EXTRACTION_PROCESSES: {
    description:
      'Read at most this many documents at the same time, each in its own process. One additional process is kept for a project, and one for a key, that has no document in progress. Unset: the number of processors, at most 4',
    default: null,
    check: wholeNumber(1, 64),
  },
  EXTRACTION_SECONDS: {
    description: 'Stop reading a document after this many seconds; its record fails with `time_limit`',
    default: '120',
    check: wholeNumber(1, 3600),
  },
  EXTRACTION_MEMORY_MB: {
    description:
      'Stop reading a document that uses more than this many MiB of memory; its record fails with `memory_limit`',
    default: '1536',
    check: wholeNumber(128, 65_536),
  },
} as const satisfies Record<string, Setting>;
