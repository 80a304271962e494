import type { Requirements } from './requirement.ts';

/** Collections, and records as jobs. */
export const recordsRequirements: Requirements = {
  'rows.reported': {
    promise: 'Every row of a sheet becomes a pair or is reported, and a corrected report completes the import, once.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: [
      'the accepted and reported rows are all rows of the sheet, whatever the policy',
      'the rows are exported as a sheet without formulas, and its corrected upload completes the import, once',
      '[rows] the corrected report of refused rows completes the import, however often it is uploaded',
    ],
  },
  'rows.columns': {
    promise:
      'A sheet whose columns are not known is refused with a proposal, and imported with the columns that are chosen.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: [
      'a sheet with unknown columns imports nothing until its record gets the proposed columns',
      'a dry run shows the proposal, and what the columns of the request would give',
      '[console] a sheet with unknown columns is imported with the columns that the user chooses',
    ],
  },
  'collections.client': {
    promise: 'The official Python client works unmodified: files, collections, records, chunk query.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: [
      '[client] the official client: files, collections, records and chunk query work unmodified',
      '[client] the official client: a question–answer sheet becomes a record of a qa collection',
      'a collection is created, changed and deleted with the bodies of the official client',
    ],
  },
  'records.asynchronous': {
    promise:
      'A created or updated record has the status creating, and then ready, partial, or error with a code and a message.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: [
      'a file record names its file in its content, with the size last, and another record can use the same file',
      'a sheet record has one chunk for each pair, and refused rows make it partial',
      'a document that cannot be read ends in error with its reason, and its record can be deleted',
      'the stream sends the current state and each change, and ends with the record',
    ],
  },
  'records.never-stuck': {
    promise: 'No record is stuck: leases, deadlines and limits of attempts end every one.',
    source: 'docs/contract.md "Records"; docs/contract.md "Durability"',
    tests: [
      'a record of a dead worker is claimed again when its lease has expired, without duplicate chunks',
      'a failure of the service is retried twice before the record ends in error',
      'a record ends in error when its deadline passes, whatever its reader does',
      'an update while a record is processed supersedes the work: only the newer source is kept',
    ],
  },
  'records.metrics': {
    promise: 'Metrics report records by status, the seconds of each stage and written chunks.',
    source: 'docs/contract.md "Records"',
    tests: ['the metrics report records by status, the seconds of each stage and the number of written chunks'],
  },
  'records.reader-isolated': {
    promise:
      'The process that reads documents is isolated as handlers are, reads for one project only, and can read nothing but its program.',
    source: 'docs/contract.md "Isolation"; ADR 0081',
    tests: [
      '[isolation] documents are read in a sandbox, which the log reports once, with one warning for a start as root',
      'a reader has a separate user, no capability, no new privileges and, in a sandbox, no network',
      'a reader of root without a separate user has no capability of root',
      '${tier}: a reader of an ordinary user has no capability and no new privileges',
      'in a sandbox the kernel alone restricts a reader to its program',
      'without a sandbox a separate user prevents a reader of root from reaching the data folder and the server',
      'with the isolation of a ${tier} the process can read only its program, and reach nothing',
      'a reader that is ended while it starts leaves no process',
      'a process that has read for one project never reads for another',
      'concurrent documents of many projects never have more processes than the limit and the kept places',
      'a start as root logs one warning with the remedy, and a start as another user logs none',
    ],
  },
  'records.reader-killed': {
    promise:
      'A reader that is killed from outside is started again; if every attempt is killed, the record names this reason.',
    source: 'docs/contract.md "Records"; ADR 0006',
    tests: [
      '[killed] after its reader is killed at each stage, in the proof 50 times, every record ends with the chunks of an undisturbed run',
      '[killed] after its reader is killed at each stage on PostgreSQL, every record ends with the chunks of an undisturbed run',
      'a reader that is killed in every attempt ends the record in error, which names a lack of memory',
    ],
  },
  'stores.killed': {
    promise:
      'After a kill at any moment, the stores have everything that was acknowledged and nothing that was deleted, and finish work that had begun.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '[stores] after two kills under mixed load, in the proof four, acknowledged changes persist and deleted data is gone',
      '[stores] after a kill under mixed load on PostgreSQL, in the proof two, acknowledged changes persist and deleted data is gone',
    ],
  },
  'records.resumed': {
    promise: 'After its worker is killed at any stage, a record still ends with the chunks of an undisturbed run.',
    source: 'docs/contract.md "Records"; ADR 0032',
    tests: [
      '[killed] after its worker is killed at each stage, in the proof 50 times, every record ends with the chunks of an undisturbed run',
      'a completely read source is not read again when the last step fails',
    ],
  },
  'records.retry-cancel': {
    promise: 'Records can be retried and cancelled in every status.',
    source: 'docs/contract.md "Collections, records, chunks"; ADR 0032',
    tests: [
      'cancelling a record in progress ends it in error, stops the work and discards its new chunks',
      'a waiting record can be cancelled and is never read',
      'cancelling a finished record changes nothing',
      'a retry of a failed or ready record creates its chunks again, and the old chunks stay until then',
      'a retry does not disturb a record that is being read, and starts a waiting attempt immediately',
      'a retry or cancellation of a deleted record, or of a record of another project, results in 404',
    ],
  },
  'records.total-delete': {
    promise: 'Deletion is total.',
    source: 'docs/contract.md "Durability"',
    tests: [
      'a deleted collection leaves no row behind',
      'a deleted record is swept completely, with its unfinished chunks',
      'a deleted chunk disappears from list, search and count',
    ],
  },
  'records.killable': {
    promise: 'Documents are read in a child that can be killed, with limits on time and memory.',
    source: 'docs/contract.md "Records"',
    tests: [
      'a document that needs too much memory is stopped, and the pool continues',
      'entity bombs and document types are refused, in any encoding of XML',
      'with the isolation of a ${tier} the process can read only its program, and reach nothing',
    ],
  },
};
