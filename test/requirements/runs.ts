import type { Requirements } from './requirement.ts';

/** Records of runs and asynchronous runs. */
export const runsRequirements: Requirements = {
  'runs.recorded': {
    promise:
      'Every run has a record with its outcome, phases, tier and outbound calls, without credentials, and with inputs only on request.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[runs] the record of a run has its outcome, phases and outbound calls, but neither credentials nor inputs',
      'the timings of a run contain every outbound call with host, status, bytes and time, but no path',
      'the phases of ${plugin_id} add up to its duration',
    ],
  },
  'runs.apart': {
    promise: 'A project sees only its own runs, also after a restart.',
    source: 'docs/contract.md "Isolation"',
    tests: ['[runs] runs survive a restart and can be filtered and paged, and a project sees only its own'],
  },
  'runs.asynchronous': {
    promise:
      'An asynchronous run that was acknowledged ends, whatever happens to its process; no writing plugin runs twice.',
    source: 'ADR 0027',
    tests: [
      '[runs] an asynchronous run is acknowledged before it starts, and its result is stored',
      '[runs] after kill −9 a read-only run is repeated; a writing run and one with credentials end as interrupted with the reason',
      '[runs] after kill −9 with an encryption key, a read-only run continues with its credentials, and a writing run never executes twice',
      '[runs] an orderly stop leaves repeatable runs to the next start and ends the others',
      '[runs] the same idempotency key returns the same asynchronous run, even after a crash',
      'a run of a plugin that writes is not repeated after the process that recovered it was killed',
      'only the owner of a run may begin it; a begun and requeued run is marked and waits again',
      'a run and the answer of its idempotency key are stored together or not at all',
    ],
  },
  'runs.recovered': {
    promise: 'Only a process that has the bundle recovers an orphaned run, and each run is recovered once.',
    source: 'ADR 0027',
    tests: [
      '[runs] a process without the bundle leaves an orphaned run to one that has it',
      'a process without the bundle takes an orphaned run that was cancelled or accepted too long ago',
      'an orphaned run whose bundle no process has ends when it has waited too long',
      'two processes that recover at the same time claim each run once',
      'one heartbeat renews all runs of a process',
      'a heartbeat in the future is void',
      'without a heartbeat the lease of the run counts',
    ],
  },
  'runs.followed': {
    promise: 'The event stream of a run sends each change once, keeps its connection alive, and ends with the run.',
    source: 'ADR 0027',
    tests: [
      '[runs] the event stream of a run reports each state and progress once, and ends with the run',
      '[runs] the client and the command line start, list, show, follow and cancel runs',
      'an event stream sends a comment at intervals, and the number of streams is limited',
      '[streams] a key has at most 20 streams over both addresses, and other keys of its project can still open streams',
    ],
  },
  'runs.cancelled': {
    promise: 'A cancellation ends a run immediately, with its handler and its outbound calls.',
    source: 'ADR 0027',
    tests: [
      '[runs] a run can be cancelled while it waits for a third party, whichever API started it',
      '[runs] a cancellation ends a handler with an endless computation',
      'the owner of a run learns that it should be cancelled, and an ended run cannot be cancelled',
    ],
  },
  'runs.queued': {
    promise:
      'The queues are limited for each bundle, for each key and in total; requests above a limit get 429 with Retry-After.',
    source: 'ADR 0044',
    tests: [
      'answers 429 with Retry-After while the maximum number of runs is running',
      'a key has a limited number of concurrent runs, other keys are not affected, and an ended run frees its place',
      '[runs] a key has a limited number of concurrent runs, and one more gets 429 with Retry-After over every API',
    ],
  },
  'runs.bounded': {
    promise: 'Stored runs and results are limited in age, number and bytes.',
    source: 'docs/contract.md "Storage"',
    tests: [
      'the limit run_records keeps the newest runs of a project, none too old, and deletes nothing of one under way',
      'the limit run_result_bytes deletes the oldest results beyond it, and those that are over; the runs stay',
      'a project that stores many results deletes none of another project',
      'a response that exceeds the space of its project is returned once; a repeated request gets 409 with the reason and runs nothing',
      'accepted runs have places in shares of keys and projects, in items and in characters, and an ended run frees its place',
    ],
  },
};
