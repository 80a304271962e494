/** A queue as docs/reference/admission.md shows it. Numbers are those that the code uses; texts name settings. */
export interface QueueDescription {
  /** The entries that wait or hold a place. */
  readonly entries: string;
  /** Entries that run at once, or places. */
  readonly atOnce: number | string;
  /** Entries that may wait. Undefined: nothing waits, each entry holds a place. */
  readonly waiting?: number | string;
  /** Whether one more permit is kept for a project, and one for a key, that runs nothing. */
  readonly keepsPlaces?: boolean;
  /** The places are those of the whole store: each node that serves the address has an equal part, rounded up. */
  readonly dividedBy?: 'files' | 'plugins';
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
    entries: 'dry runs of records, and sheets of evaluations that are read',
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
    entries: 'asynchronous runs that a 202 accepted, and their requests, at most 64 Mi characters of a node',
    atOnce: 1000,
    dividedBy: 'plugins',
    whenFull: refused,
  },
  running_async_runs: {
    entries: 'accepted asynchronous runs, recovered ones included',
    atOnce: 64,
    waiting: 'all of `async_runs`',
    keepsPlaces: true,
    whenFull: 'never full',
  },
  idempotency_waits: {
    entries: 'requests that wait for another node to end the one with the same `Idempotency-Key`',
    atOnce: 100,
    whenFull: '409 `DUPLICATE_OBJECT` at once',
  },
  event_streams: {
    entries: 'event streams of records and runs, and MCP `subscriptions/listen`',
    atOnce: 1000,
    shares: '100 of a project, 20 of a key',
    whenFull: refused,
  },
  uploads: {
    entries: 'uploads, and documents received at `/openwebui/process`',
    atOnce: '4 × `QUARTERMASTER_MAX_UPLOADS_IN_FLIGHT`',
    dividedBy: 'files',
    whenFull: refused,
  },
  runs: {
    entries: 'runs of plugins and checks of credentials whose callers wait',
    atOnce: '4 × `QUARTERMASTER_MAX_RUNS_OF_KEY`',
    dividedBy: 'plugins',
    whenFull: refused,
  },
  plugin_processes: {
    entries: 'runs of plugins that have a process or wait for one, by bundle; a process serves one project',
    atOnce:
      'as many as processors, from 2 to 8, of one bundle and project; in all as many as the budget of memory allows (isolation.md)',
    waiting: '512; 256 of one bundle and project',
    keepsPlaces: true,
    whenFull: refused,
  },
  bundle_plans: {
    entries: 'packages that are planned, installed or removed',
    atOnce: 1,
    waiting: 8,
    whenFull: refused,
  },
  input_files: {
    entries: 'files that inputs of runs name, at most 64 MiB',
    atOnce: 'any number',
    whenFull: refused,
  },
  large_answers: {
    entries: 'large answers of third parties that runs store',
    atOnce: 8,
    whenFull: 'the answer is not stored',
  },
  answers: {
    entries: 'long answers of third parties that a thread reads',
    atOnce: 1,
    waiting: 'one for each run',
    whenFull: 'never full',
  },
  svg_pictures: {
    entries: 'SVG pictures of MCP results, each at most 5 s',
    atOnce: 1,
    waiting: 128,
    keepsPlaces: true,
    whenFull: 'the result has only the link to the SVG',
  },
  downloads: {
    entries: 'pieces of 256 KiB of files and artifacts that are sent, by project',
    atOnce: 2,
    waiting: 'one for each download',
    whenFull: 'never full',
  },
  rankings: {
    entries: 'collections that questions rank; each is a short step except in `long_rankings`, so no permit is kept',
    atOnce: 4,
    waiting: 512,
    whenFull: refused,
  },
  long_rankings: {
    entries: 'collections that questions of more than 100 words rank; each then waits in `rankings` too',
    atOnce: 1,
    waiting: 512,
    keepsPlaces: true,
    whenFull: refused,
  },
  record_texts: {
    entries: 'texts of records that are read, each at most 500 chunks',
    atOnce: 2,
    waiting: 512,
    whenFull: refused,
  },
  embedding_questions: {
    entries: 'questions that wait for the embedding model, each for a limited time',
    atOnce: 16,
    waiting: 'all questions in progress',
    whenFull: 'never full',
  },
  embedding_batches: {
    entries: 'batches of chunks that the embedding model reads, by project; a collection belongs to no key',
    atOnce: 'lanes of the embedder',
    waiting: 'the batches of the records in progress',
    whenFull: 'never full',
  },
  similarity_scales: {
    entries: 'measurements of the similarity scales of collections',
    atOnce: 1,
    waiting: 'one for each collection',
    keepsPlaces: true,
    whenFull: 'never full; a question waits at most 3 s',
  },
  page_fetches: {
    entries: 'questions that fetch pages of the search index from PostgreSQL',
    atOnce: 4,
    waiting: 'one for each running ranking',
    whenFull: 'never full',
  },
  passwords: {
    entries: 'passwords that are hashed; an address counts as a project',
    atOnce: 2,
    waiting: 32,
    whenFull: refused,
  },
} as const satisfies Record<string, QueueDescription>;

/** What limits or orders work without `createAdmission`, by file. */
export const exceptions: Readonly<Record<string, { readonly limited: string; readonly reason: string }>> = {
  'storage/repositories/records/claim-record.ts': {
    limited: 'waiting records',
    reason: 'They wait in the database, where they survive a crash. Claims alternate by project, then by key.',
  },
  'stores/ingestion/backfill.ts': {
    limited: 'collections whose chunks wait for vectors',
    reason: 'They wait in the database. Claims alternate by project. A collection belongs to no key.',
  },
  'storage/repositories/claim-runs.ts': {
    limited: 'asynchronous runs of an ended or busy process',
    reason:
      'They wait in the database until a process claims them, which takes their places in `async_runs`. Claims alternate by project, then by key.',
  },
  'platform/http/client-error.ts': {
    limited: 'refused bodies that are read to their end, 64 at once, each for at most 10 s',
    reason:
      'A refused request may have no owner. Further ones get the same response, and their connection closes at once.',
  },
  'platform/http/slow-readers.ts': {
    limited: 'large responses that wait for their readers, at most 128 MiB',
    reason: 'The connection that has not read for the longest time is closed, regardless of its project.',
  },
  'storage/sqlite/sqlite-dialect.ts': {
    limited: 'statements that wait for a connection to SQLite',
    reason: 'They are first in, first out, because each is short.',
  },
  'storage/search-index/merge-backlog.ts': {
    limited: 'writers of a collection with too many unmerged segments',
    reason: 'Only writers of the same collection wait, and all of them continue after its next merge.',
  },
};

export type QueueName = keyof typeof queues;
