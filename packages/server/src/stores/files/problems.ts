import { type Purpose, purposeNames, purposes, purposesFor } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import { Problem, problemsOf } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { operatorErrorsOf } from '../../platform/server-process/operator-error.ts';
import { fieldInvalid, fieldMissing, quote, quoteNames } from '../../platform/validation/validation-error.ts';

export const { multipartMalformed, bodyCutShort } = problemsOf('INVALID_REQUEST', {
  /** The body cannot be parsed. @param what a clause with a full stop. Source: docs/contract.md "Codes". */
  multipartMalformed: (what: string) => `The multipart/form-data body is malformed: ${what}`,
  /** The client disconnected, or Content-Length was larger than the body. */
  bodyCutShort: 'The body ended early, or it is not valid HTTP. Nothing was stored. Send the file again.',
});

/** The Content-Type is not multipart/form-data. */
export function mediaTypeNotRead(found: string | undefined): Problem {
  const received = found === undefined || found === '' ? 'none' : quoteText(found);
  return new Problem('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be multipart/form-data; received ${received}.`);
}

/** The body is compressed. An upload is hashed and limited while it arrives, so it must not be. */
export function contentEncodingNotRead(found: string): Problem {
  return new Problem(
    'UNSUPPORTED_MEDIA_TYPE',
    `Content-Encoding must be absent; received ${quoteText(found)}. Send the file uncompressed.`,
  );
}

/**
 * @param limit bytes
 * @param path of the file in the request
 */
export function fileTooLarge(limit: number, path = 'body/file'): Problem {
  return new Problem('FILE_TOO_LARGE', `${path} must be at most ${limit} bytes; received a larger file.`, {
    details: [{ path, max_bytes: limit }],
  });
}

/** @param limit bytes of all files of the project */
export function quotaUsedUp(limit: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The file does not fit into the project's quota of ${limit} bytes. Delete files and retry.`,
    { details: [{ max_bytes: limit }], retryAfter: 60 },
  );
}

/** @param limit files of the project */
export function tooManyFiles(limit: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The project has ${limit} files, which is the maximum. Delete files and retry.`,
    { details: [{ max_files: limit }], retryAfter: 60 },
  );
}

const holders = { key: 'this key', project: 'the project', all: 'all projects' };

/** @param limit the number of concurrent uploads that the holder may have at present */
export function tooManyUploads(holder: keyof typeof holders, limit: number): Problem {
  return new Problem(
    'TOO_MANY_REQUESTS',
    `The uploads of ${holders[holder]} in progress reach the maximum (${limit}). Retry when one has ended.`,
    {
      retryAfter: 1,
    },
  );
}

/** @param what a clause without a full stop */
export function uploadTooSlow(what: string): Problem {
  return new Problem('REQUEST_TIMEOUT', `The upload was aborted: ${what}. Nothing was stored. Send the file again.`);
}

export function filePartMissing(): Problem {
  return fieldMissing('body/file', 'a part with a filename');
}

export function purposePartMissing(): Problem {
  return fieldMissing('body/purpose', `one of ${quoteNames(purposeNames)}`);
}

export function fieldRepeated(name: string): Problem {
  return fieldInvalid(`body/${name}`, 'two parts with this name', 'sent once');
}

export function purposeUnknown(found: string): Problem {
  return fieldInvalid('body/purpose', quote(found), `one of ${quoteNames(purposeNames)}`);
}

/** The purpose does not allow the extension. The message names the purposes that do. */
export function purposeNotAllowed(extension: string, purpose: Purpose): Problem {
  const allowed = purposes[purpose].extensions.map((name) => `.${name}`).join(', ');
  const found = extension === '' ? 'a filename without an extension' : `the extension ${quoteText(`.${extension}`)}`;
  const others = purposesFor(extension).join(' or ');
  const hint = others === '' ? '' : ` (purpose ${others} allows .${extension})`;
  return fieldInvalid('body/file', `${found}${hint}`, `a file with one of ${allowed} for purpose ${purpose}`);
}

/** @param found completes "content is …". @param expected completes "must be …" */
export function contentContradicts(extension: string, found: string, expected: string): Problem {
  return fieldInvalid('body/file', `a .${extension} file whose content is ${found}`, expected);
}

export const { idempotencyClaimLost, fileInUse } = problemsOf(
  'DUPLICATE_OBJECT',
  {
    /** The claim on the idempotency key expired during the upload. */
    idempotencyClaimLost:
      'Another request with the same Idempotency-Key took over while this one was uploading. Retry the request.',
    /** A record that is being processed reads the file. */
    fileInUse: (fileId: string) =>
      `File ${fileId} is in use: a record is being created from it. Retry when the record is ready.`,
  },
  { retryAfter: 1 },
);

/** A key that is limited to collections sees files that other keys use too. */
export function fileOfOthers(fileId: string): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `The API key is limited to collections and did not upload file ${fileId}, so it cannot delete it. Use the key that uploaded it, or a key without this limit.`,
  );
}

/** The bytes reached the object storage, but their row was not written within an hour. */
export function uploadGivenUp(): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'The upload took longer than an hour after its last byte, so it was given up. Nothing was stored. Send the file again.',
    { retryAfter: 1 },
  );
}

/** The database did not answer the COMMIT. */
export function uploadInDoubt(cause: unknown): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'The database did not confirm the upload, so the file may or may not be stored. Retry the request with the same Idempotency-Key, if it had one.',
    { retryAfter: 1, cause },
  );
}

export function rangeNotSatisfiable(header: string, bytes: number): Problem {
  return new Problem(
    'RANGE_NOT_SATISFIABLE',
    `Range must be within the ${bytes} bytes of the file; received ${quoteText(header)}.`,
    { headers: { 'Content-Range': `bytes */${bytes}` } },
  );
}

const checkSettings = 'Check QUARTERMASTER_DATA and QUARTERMASTER_DATABASE_URL.';

export const {
  folderOfAnotherDatabase,
  secondFolder,
  notTheDataFolder,
  bytesOfAnotherDatabase,
  rowsOfAnotherFolder,
  blobNotQuarantined,
  notTheContent,
  blobStillNamed,
} = operatorErrorsOf({
  /** The errors from here on are for operators. @param identity the file that records the store id */
  folderOfAnotherDatabase: (folder: string, identity: string) =>
    `The data folder ${folder} belongs to another database. Its files would be lost with this one. ${checkSettings} If you deliberately emptied the folder, remove ${identity}.`,
  /** @param wanted the content of the identity file in the right folder */
  secondFolder: (folder: string, identity: string, wanted: object) =>
    `The database belongs to another data folder than ${folder}. Files would be stored in both folders. Set QUARTERMASTER_DATA to the right folder, or QUARTERMASTER_SERVE=plugins for a process with its own folder. If the right folder was lost and this one holds its restored content, write ${JSON.stringify(wanted)} into ${identity}.`,
  /** @param identity the name of the identity file */
  notTheDataFolder: (folder: string, identity: string) =>
    `${folder} is not the data folder of the database: its ${identity} is missing or belongs to another store. Nothing was changed. Set QUARTERMASTER_DATA to the data folder of the service.`,
  bytesOfAnotherDatabase: (folder: string) =>
    `The data folder ${folder} holds files that the database does not list. They would be lost with this database. ${checkSettings} To start with an empty store, move "blobs" out of the folder.`,
  /** @param wanted the content of the identity file that accepts the folder */
  rowsOfAnotherFolder: (folder: string, identity: string, wanted: object) =>
    `The database lists files, but the data folder ${folder} holds none of their content. ${checkSettings} To continue without the content, write ${JSON.stringify(wanted)} into ${identity}.`,
  /** The errors from here on are for the command line. */
  blobNotQuarantined: (blobId: string) =>
    `The quarantine holds no blob ${blobId}. Run "${commandName} quarantine list" to see what it holds.`,
  notTheContent: (blobId: string, { id, name }: { readonly id: string; readonly name: string }) =>
    `Blob ${blobId} in the quarantine is not the content of ${quoteText(name)} (${id}): the SHA-256 differs. Nothing was restored. Upload the same content again, or restore a backup.`,
  blobStillNamed: (blobId: string) =>
    `Blob ${blobId} is in use, so nothing was changed. Run "${commandName} fsck --hash --repair" to compare it with its copy in the quarantine.`,
});
