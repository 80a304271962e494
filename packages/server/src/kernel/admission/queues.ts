/** A queue as docs/reference/admission.md shows it. Numbers are those that the code uses; texts name settings. */
export interface QueueDescription {
  /** What waits or holds a place. */
  readonly entries: string;
  /** Entries that run at once, or places. */
  readonly atOnce: number | string;
  /** Entries that may wait. Undefined: nothing waits, each entry holds a place. */
  readonly waiting?: number | string;
  /** Whether one more permit is kept for a project, and one for a key, that runs nothing. */
  readonly keepsPlaces?: boolean;
  /** The places of a project and of a key that is alone, if they are less than a half and a quarter. */
  readonly shares?: string;
  readonly whenFull: string;
}

const refused = '429 `TOO_MANY_REQUESTS`';

/**
 * Every queue, pool and counter that takes work of callers, in one list. `test/architecture-admission.test.ts` fails for one
 * that is missing here or does not use `createAdmission`.
 */
export const queues = {
  extraction: {
    entries: 'documents of records, dry runs and `/openwebui/process` that an extraction process reads',
    atOnce: '`QUARTERMASTER_EXTRACTION_PROCESSES`',
    waiting: 64,
    keepsPlaces: true,
    whenFull: `${refused}; records are never refused`,
  },
  dry_runs: {
    entries: 'dry runs of records',
    atOnce: '`QUARTERMASTER_EXTRACTION_PROCESSES`',
    waiting: 64,
    keepsPlaces: true,
    whenFull: refused,
  },
  page_pictures: {
    entries: 'boxes and pictures of pages',
    atOnce: 1,
    waiting: 64,
    keepsPlaces: true,
    whenFull: refused,
  },
  async_runs: {
    entries: 'asynchronous runs that a 202 accepted, and their requests, at most 64 Mi characters',
    atOnce: 1000,
    whenFull: refused,
  },
  async_run_turns: {
    entries: 'accepted asynchronous runs, recovered ones included',
    atOnce: 64,
    waiting: 'all of `async_runs`',
    keepsPlaces: true,
    whenFull: 'never full',
  },
  event_streams: {
    entries: 'event streams of records and runs, and MCP `subscriptions/listen`',
    atOnce: 1000,
    shares: '100 of a project, 20 of a key',
    whenFull: refused,
  },
} as const satisfies Record<string, QueueDescription>;

export type QueueName = keyof typeof queues;
