import { type Purpose, purposeNames, purposes } from '@quartermaster/contract';
import { fieldInvalid, Problem } from '../kernel/problem.ts';
import { quoteText } from '../kernel/quote-text.ts';

/** The body cannot be parsed. `what` is a sentence. Source: docs/contract.md "Codes". */
export function multipartMalformed(what: string): Problem {
  return new Problem('INVALID_REQUEST', `The multipart/form-data body is malformed: ${what}`);
}

/** The body is of a type that an upload is not. */
export function mediaTypeNotRead(found: string | undefined): Problem {
  const said = found === undefined || found === '' ? 'none was sent' : `found ${quoteText(found)}`;
  return new Problem('UNSUPPORTED_MEDIA_TYPE', `Content-Type: ${said}; expected multipart/form-data.`);
}

/** The body is packed: an upload is hashed and bounded as it comes. */
export function contentEncodingNotRead(found: string): Problem {
  return new Problem('UNSUPPORTED_MEDIA_TYPE', `Content-Encoding: found ${quoteText(found)}; expected none.`);
}

/** `limit`: bytes. */
export function fileTooLarge(limit: number): Problem {
  return new Problem('FILE_TOO_LARGE', `body/file: the file is larger than the limit of ${limit} bytes.`, {
    details: [{ path: 'body/file', max_bytes: limit }],
  });
}

/** `limit`: bytes of the project. */
export function quotaUsedUp(limit: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The files of this project would need more than its quota of ${limit} bytes. Delete files to make room.`,
    { details: [{ max_bytes: limit }], retryAfter: 60 },
  );
}

/** `limit`: files of the project. */
export function tooManyFiles(limit: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `This project has ${limit} files, which is the most. Delete files to make room.`,
    { details: [{ max_files: limit }], retryAfter: 60 },
  );
}

/** `limit`: uploads of one project at the same time. */
export function tooManyUploads(limit: number): Problem {
  return new Problem('TOO_MANY_REQUESTS', `This project has ${limit} uploads running, which is the most at once.`, {
    retryAfter: 1,
  });
}

/** `what`: a phrase, without a full stop. */
export function uploadTooSlow(what: string): Problem {
  return new Problem('REQUEST_TIMEOUT', `The upload was given up: ${what}. Nothing of it was kept.`);
}

/** The client went, or said a length that was not true. */
export function bodyCutShort(): Problem {
  return new Problem('INVALID_REQUEST', 'The body ended before the length it declared. Nothing of it was kept.');
}

export function fieldMissing(name: 'file' | 'purpose'): Problem {
  const expected = name === 'file' ? 'a part with a filename' : `one of ${purposeNames.join(', ')}`;
  return fieldInvalid(`body/${name}`, 'nothing', expected);
}

export function fieldRepeated(name: string): Problem {
  return fieldInvalid(`body/${name}`, 'two of them', 'one');
}

export function purposeUnknown(found: string): Problem {
  return fieldInvalid('body/purpose', quoteText(found), `one of ${purposeNames.join(', ')}`);
}

/** The extension is not one of the purpose; says so too when the other purpose would take it. */
export function purposeNotAllowed(extension: string, purpose: Purpose): Problem {
  const allowed = purposes[purpose].extensions.map((name) => `.${name}`).join(', ');
  const found = extension === '' ? 'a filename without an extension' : `the extension ${quoteText(`.${extension}`)}`;
  const other = purposeNames.find((name) => (purposes[name].extensions as readonly string[]).includes(extension));
  const hint = other === undefined ? '' : ` (purpose ${other} takes .${extension})`;
  return fieldInvalid('body/file', found, `one of ${allowed} for purpose ${purpose}${hint}`);
}

/** `found`: what the content is, after "is"; `expected`: what it should be. */
export function contentContradicts(extension: string, found: string, expected: string): Problem {
  return fieldInvalid('body/file', `a .${extension} file whose content is ${found}`, expected);
}

/** Its claim ran out while it was uploading. */
export function idempotencyClaimLost(): Problem {
  return new Problem('DUPLICATE_OBJECT', 'Idempotency-Key: a request with the same key took over; ask again.', {
    retryAfter: 1,
  });
}

/** A record that is being made reads it. */
export function fileInUse(fileId: string): Problem {
  return new Problem('DUPLICATE_OBJECT', `The file ${fileId} is in use: a record is being made from it. Try again.`, {
    retryAfter: 1,
  });
}

/** The answer to COMMIT was lost. */
export function uploadInDoubt(cause: unknown): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'The database did not confirm the upload, so the file may or may not have been stored. Send the request again, with the same Idempotency-Key if it had one.',
    { retryAfter: 1, cause },
  );
}

export function rangeNotSatisfiable(header: string, bytes: number): Problem {
  return new Problem(
    'RANGE_NOT_SATISFIABLE',
    `Range: found ${quoteText(header)}; expected a range within the ${bytes} bytes of the file.`,
    { headers: { 'Content-Range': `bytes */${bytes}` } },
  );
}

const checkSettings = 'Check QUARTERMASTER_DATA and QUARTERMASTER_DATABASE_URL.';

/** For the operator at start, as those below. `identity`: the file that says so. */
export function folderOfAnotherDatabase(folder: string, identity: string): Error {
  return new Error(
    `The data folder ${folder} belongs to another database; with this one its files would be lost. ${checkSettings} If the folder was emptied on purpose, remove ${identity}.`,
  );
}

/** @param wanted what the identity file of the right folder holds */
export function secondFolder(folder: string, identity: string, wanted: object): Error {
  return new Error(
    `The database belongs to another data folder than ${folder}; files would be stored in two places and found in neither. Set QUARTERMASTER_DATA to its folder, or set QUARTERMASTER_SERVE=plugins for a process with a folder of its own. If the folder was lost and this one holds its restored content, write ${JSON.stringify(wanted)} into ${identity}.`,
  );
}

export function bytesOfAnotherDatabase(folder: string): Error {
  return new Error(
    `The data folder ${folder} holds files, and the database names none of them; with it they would be lost. ${checkSettings} To start with an empty store, move "blobs" out of the folder.`,
  );
}

/** @param wanted accepts the folder when the identity file holds it */
export function rowsOfAnotherFolder(folder: string, identity: string, wanted: object): Error {
  return new Error(
    `The database names files, and the data folder ${folder} holds the content of none of them. ${checkSettings} If the content is lost, and to continue without it, write ${JSON.stringify(wanted)} into ${identity}.`,
  );
}

/** For commands. */
export function blobNotQuarantined(blobId: string): Error {
  return new Error(`There is no ${blobId} in the quarantine. "quartermaster quarantine list" shows what is there.`);
}

export function notTheContent(blobId: string, { id, name }: { readonly id: string; readonly name: string }): Error {
  return new Error(
    `The bytes of ${blobId} in the quarantine are not the content of ${quoteText(name)} (${id}): their SHA-256 differs. Nothing was restored. Upload the same content again, or restore a backup.`,
  );
}

export function blobStillNamed(blobId: string): Error {
  return new Error(
    `The blob ${blobId} is in use, so nothing was changed. "quartermaster fsck --hash --repair" compares it with its copy in the quarantine.`,
  );
}

export function projectUnknown(projectId: string): Error {
  return new Error(`There is no project ${projectId}. "quartermaster project list" shows the projects.`);
}
