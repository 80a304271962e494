import type { Setting } from './setting.ts';
import { anyText, checkSealingKeys, wholeNumber } from './setting-checks.ts';

/** Where files and rows are stored, and the limits of uploads and of reading documents. */
export const storeSettings = {
  DATA: {
    description: 'Data folder: database, files, first key. Made when it is missing.',
    default: './data',
    check: anyText,
  },
  DATABASE_URL: {
    description: '`postgres://…` keeps the rows in PostgreSQL (15 or later). Unset: SQLite in the data folder.',
    default: null,
    check: (text) => (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? null : 'is not a postgres:// URL'),
    secret: true,
  },
  DATABASE_URL_FILE: {
    description:
      'Read DATABASE_URL from this file instead, so that its password is not in the environment of the process.',
    default: null,
    check: anyText,
  },
  SEALING_KEY: {
    description:
      'Encrypt stored credentials with these keys, base64 of 32 bytes each, separated by commas: the first encrypts, all of them decrypt. `quartermaster profile new-key` prints one. Unset, and no SEALING_KEY_FILE: with SQLite the file `encryption-key` in the data folder, created at the first start; with PostgreSQL no credential profiles.',
    default: null,
    check: checkSealingKeys,
    secret: true,
  },
  SEALING_KEY_FILE: {
    description: 'Read the encryption keys from this file, one a line; the first encrypts.',
    default: null,
    check: anyText,
  },
  MAX_FILE_BYTES: {
    description: 'Largest file that may be uploaded, in bytes.',
    default: String(512 * 1024 * 1024),
    check: wholeNumber(1, 5 * 1024 ** 3),
  },
  MAX_PROJECT_BYTES: {
    description: 'Bytes of files a project may keep. Unset: no quota.',
    default: null,
    check: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  },
  MAX_FILES: {
    description: 'Files a project may have; one more is answered 429.',
    default: '1000000',
    check: wholeNumber(1, 1_000_000_000),
  },
  MIN_FREE_DISK_MB: {
    description:
      'Refuse uploads with INSUFFICIENT_STORAGE while less than this many MiB is free on the disk of the data folder. With SQLite, records wait and runs are refused while less than half of it, or less than 16 MiB, is free. 0: no limit for uploads.',
    default: '256',
    check: wholeNumber(0, 1_000_000_000),
  },
  QUARANTINE_DAYS: {
    description:
      'Days for which bytes without a file are kept in `quarantine` in the data folder before they are erased. When the free space falls below MIN_FREE_DISK_MB, the oldest are erased first.',
    default: '30',
    check: wholeNumber(1, 3650),
  },
  VERIFICATION_DAYS: {
    description: 'Days within which all stored files are read once in the background and compared with their hashes.',
    default: '7',
    check: wholeNumber(1, 365),
  },
  VERIFICATION_MB_PER_SECOND: {
    description: 'MiB a second that the background verification reads at most. 0: it does not run.',
    default: '16',
    check: wholeNumber(0, 10_000),
  },
  MAX_UPLOADS_IN_FLIGHT: {
    description: 'Uploads a project may have running at once.',
    default: '256',
    check: wholeNumber(1, 10_000),
  },
  MAX_COLLECTIONS: {
    description: 'Collections a project may have; one more is answered 429.',
    default: '10000',
    check: wholeNumber(1, 1_000_000),
  },
  MAX_RECORDS: {
    description: 'Records a collection may have; one more is answered 429.',
    default: '1000000',
    check: wholeNumber(1, 100_000_000),
  },
  MAX_WAITING_RECORDS: {
    description:
      'Records of a project that may wait to be processed or be in work; one more is answered 429. Each new record counts them: with PostgreSQL 100,000 of them delay it by up to 50 ms.',
    default: '20000',
    check: wholeNumber(1, 1_000_000),
  },
  UPLOAD_IDLE_SECONDS: {
    description: 'Seconds without a byte after which an upload is given up.',
    default: '30',
    check: wholeNumber(1, 3600),
  },
  EXTRACTION_PROCESSES: {
    description:
      'Documents read at the same time, each in a process of its own. One more reads a small document of a project that has none in progress. Unset: the number of processors, at most 4.',
    default: null,
    check: wholeNumber(1, 64),
  },
  EXTRACTION_SECONDS: {
    description: 'Seconds that reading one document may take.',
    default: '120',
    check: wholeNumber(1, 3600),
  },
  EXTRACTION_MEMORY_MB: {
    description: 'Memory that reading one document may take, in MiB.',
    default: '1536',
    check: wholeNumber(128, 65_536),
  },
} as const satisfies Record<string, Setting>;
