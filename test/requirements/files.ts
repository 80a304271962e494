import type { Requirements } from './requirement.ts';

/** Uploading, reading and deleting files. */
export const filesRequirements: Requirements = {
  'upload.success': {
    promise: 'A valid upload answers status success and data.file_id.',
    source: 'docs/contract.md "Upload"',
    tests: ['returns the stored file', 'returns ${size} bytes, ${order}, as they were uploaded'],
  },
  'upload.used': {
    promise: 'The file id is accepted when a record of the matching kind is created.',
    source: 'docs/contract.md "Upload"',
    tests: [
      '[story] a PDF is uploaded and becomes a record, and a question finds the passage with its page',
      '[story] a question finds its answer in a question–answer sheet',
      'an invalid field is refused with the value found and the value required',
    ],
  },
  'upload.formats': {
    promise: 'The purpose must allow the extension, and the content must match it.',
    source: 'docs/contract.md "Upload"; docs/contract.md "Files"',
    tests: [
      'a file with the extension of another type is refused, for every pair of types',
      'every valid file of the corpus is accepted, and every invalid one is refused',
      'an empty file is accepted with every extension',
      '[formats] every format of document_file becomes a record that a question finds, and the limits list it',
      '[formats] the purposes of the interface refuse other formats and name the purpose that accepts them',
    ],
  },
  'upload.message': {
    promise: 'The multipart message is read strictly; what is malformed is an error of the contract.',
    source: 'docs/contract.md "Files"',
    tests: [
      'refuses ${name}, in one piece and byte by byte',
      'a truncated body, wherever it is cut',
      'an upload shorter than its Content-Length is refused although its final boundary arrived',
      'the Content-Type ${JSON.stringify(contentType)} with ${status}',
    ],
  },
  'upload.nothing-left': {
    promise: 'An upload that fails leaves nothing on disk or in the database.',
    source: 'docs/contract.md "Storage"',
    tests: [
      'leaves nothing: cut ${name} (${way})',
      'an upload whose ${call} fails with ${code} leaves nothing in staging, and a named blob is not deleted',
      'an upload whose transaction fails leaves no bytes behind, and frees its key',
    ],
  },
  'upload.durable': {
    promise: 'An acknowledged upload survives a kill, and a partial file is never visible.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '[durable] after each kill −9 during uploads, 4 times and in the proof 20, every acknowledged file is complete and no file is partial',
      'the store writes, syncs the file, renames it and syncs the folder, in this order',
      'the file uses synchronous FULL and a write-ahead log, when created and when opened again',
    ],
  },
  'upload.doubt': {
    promise:
      'An upload whose commit was not confirmed keeps its bytes, and a retry with its key gets a consistent result.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '[doubt] an upload that commits after the connection was cut is stored once, and a retry returns it',
      '[doubt] an upload whose COMMIT never arrives is not stored, and a retry with its key stores it once',
      '[doubt] after a failed sync of the SQLite log the process exits with 70 and one log line, and the next start recovers',
      'a failed sync of the folder results in 503, and the blob stays',
    ],
  },
  'files.damage': {
    promise:
      'Damaged bytes are never served as complete, and a new upload of the same content repairs every file that has it.',
    source: 'docs/contract.md "Durability"',
    tests: [
      '${name}: another upload of the same content is stored for every file that uses it',
      'changed within ${content.length} bytes: a download never ends as complete, and an upload of the same content repairs it',
      'a range and a HEAD of a truncated blob are refused; a range of a complete blob is served',
      '[damage] a damaged table of a SQLite database turns readiness to 503, which names table and page, and a damaged header makes the start fail',
      '[damage] readiness and metrics report a missing blob, fsck names its file, and a new upload repairs it',
      '[damage] fsck and backup name a file that the disk cannot read, continue and exit with 1, and a new upload repairs it',
      'reads every byte once in 7 days, each block at the given pace',
      'continues where it stopped, also in another process',
      'reports the files of a damaged blob and records it, so that the next upload repairs it',
      'a start on a damaged SQLite file fails with a message that recommends restoring a backup',
      'content whose blob is not stored is kept under the new blob, for every file that uses it',
    ],
  },
  'files.quarantine': {
    promise: 'Bytes that no row names are quarantined, not erased; deleted content is erased, never quarantined.',
    source: 'docs/contract.md "Durability"',
    tests: [
      'interrupted deletes erase their bytes, and bytes without a row are quarantined after the grace period',
      'more orphans than a crash leaves stay in place until the operator confirms the move',
      '[damage] after an older database was restored nothing is erased, the log asks the operator, and every file can be recovered',
      'a damaged file that is deleted leaves nothing, neither in the store nor in the quarantine',
    ],
  },
  'upload.limits': {
    promise: 'Limits are exact, can be read in advance, are named in refusals, and apply while bytes arrive.',
    source: 'docs/contract.md "Files"',
    tests: [
      'answers ${status} to ${size} of at most ${limit} bytes',
      'the first byte beyond the limit, length ${length}, with the limit in the message',
      'returns the upload limits and the remaining quota',
      'concurrent uploads never exceed the quota together',
      'files added concurrently never exceed the bytes of their project together, and a delete frees space',
    ],
  },
  'upload.key-first': {
    promise: 'A request without a key is refused before its body is read.',
    source: 'docs/contract.md "Authentication"; docs/contract.md "Keys"',
    tests: [
      'a request without an API key, before it reads the body',
      '100-continue is not sent to clients without permission to send',
    ],
  },
  'upload.idempotent': {
    promise:
      'Requests with the same idempotency key and content have one effect and one response, even under races and restarts.',
    source: 'docs/contract.md "Files"; docs/contract.md "Durability"',
    tests: [
      'the same key and content return the same response, also after a restart, and one file is stored',
      'one of twenty concurrent requests has an effect; the others get its response or are asked to retry',
      'the same key with other content, name or purpose is refused',
    ],
  },
  'files.read': {
    promise:
      'Files are listed and described with their references; downloads have ranges and a strong ETag, and no browser runs them.',
    source: 'docs/contract.md "Files"',
    tests: [
      'returns the newest files first, 20 per page',
      'returns the same bytes when repeated',
      'describes the file and lists its records',
      'answers a satisfiable range with 206 and others with 416',
      'returns the content as a download that no browser executes',
    ],
  },
  'files.delete': {
    promise:
      'A file is deleted completely, but not while a record is being created; shared bytes are deleted with their last file.',
    source: 'docs/contract.md "Files"',
    tests: [
      'is refused while a record is being created, and works afterwards',
      'is stored once in a project until its last file is deleted',
      'interrupted deletes erase their bytes, and bytes without a row are quarantined after the grace period',
    ],
  },
  'files.low-disk': {
    promise: 'Uploads are refused before the disk is full, so that the database can still work.',
    source: 'docs/contract.md "Codes"',
    tests: [
      '[disk] while little disk space is free, uploads and runs are refused with 507 and records wait, and all continue once there is space',
      '[disk] without a minimum, a small disk takes uploads after a restart, and after the operator has freed space',
      '[disk] while the disk quota of the data folder is used up, changes are refused with 507, and they succeed once there is space',
      '[disk] records in progress leave a reserve, deletes and a start work on a full disk, and every record completes once there is space',
      'a disk with less free space than required refuses a blob, and one with enough accepts it',
    ],
  },
};
