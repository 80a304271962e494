import { commandName } from '@quartermaster/contract/command-name';
import { objectNotFound, Problem, problemsOf } from '../../platform/problem.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import type { SplitterError } from '../extraction/chunking/check-splitter.ts';

export function collectionNotFound(id: string): Problem {
  return objectNotFound('collection', id);
}

/** A key never gets more collections than it was created with. */
export function creationNotPermitted(): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    'The API key is limited to some collections, so it cannot create others. Use a key without this limit.',
  );
}

export function recordNotFound(id: string): Problem {
  return objectNotFound('record', id);
}

/** The chunks of a sheet come from its rows, which have no common text. */
export function noExtractedText(id: string): Problem {
  const message = `Record ${JSON.stringify(id)} was created from a sheet and has no extracted text. List its chunks instead.`;
  return new Problem('OBJECT_NOT_FOUND', message);
}

/** Only PDF documents and pictures have pages that can be shown. */
export function noPages(id: string): Problem {
  const message = `${JSON.stringify(id)} has no pages, because it was not created from a PDF file or a picture.`;
  return new Problem('OBJECT_NOT_FOUND', message);
}

export function pageNotFound(page: number, numPages: number): Problem {
  return new Problem('OBJECT_NOT_FOUND', `Page ${page} does not exist. The document has ${numPages} pages.`);
}

/** @param reason a sentence */
export function pageNotRead(reason: string): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', `The page cannot be shown. ${reason}`);
}

export function rendererMissing(renderer: string): Problem {
  const message = `Pages cannot be drawn. Install the npm package ${renderer}, then retry.`;
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 60, isFault: true });
}

export function pagesBusy(): Problem {
  return new Problem('TOO_MANY_REQUESTS', 'Too many requests for pages are waiting. Retry later.', { retryAfter: 5 });
}

/** Every attempt met a concurrent change. */
export function recordBusy(id: string): Problem {
  return new Problem('DUPLICATE_OBJECT', `Record ${id} was modified concurrently. Retry the request.`);
}

export function chunkNotFound(id: string): Problem {
  return objectNotFound('chunk', id);
}

export function fileNotFound(id: string): Problem {
  return objectNotFound('file', id);
}

export function splitterRefused({ field, found, expected }: SplitterError): Problem {
  return fieldInvalid(`body/text_splitter/${field}`, found, expected);
}

export function holdsNul(path: string): Problem {
  return fieldInvalid(path, 'text with that character', 'text without the character U+0000');
}

/** The message names the type of the record and the type of the collection. */
export function collectionTypeMismatch(recordType: string, needed: string, found: string): Problem {
  const both = `type "${recordType}", which needs a collection of type "${needed}"`;
  return fieldInvalid('body/type', both, `a type that a collection of type "${found}" accepts`);
}

/**
 * The message names the type of the record and the purpose of the file.
 * @param needed the accepted purposes, in quotes
 */
export function purposeMismatch(recordType: string, needed: string, found: string): Problem {
  const expected = `a file with the purpose ${needed} for a record of type "${recordType}"`;
  return fieldInvalid('body/file_id', `a file with the purpose "${found}"`, expected);
}

export function collectionFull(id: string, capacity: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `Collection ${JSON.stringify(id)} is full: its capacity is ${capacity} chunks. Delete records or chunks, or use another collection.`,
    { details: [{ capacity }], retryAfter: 60 },
  );
}

/** @param left the bytes that the project may still store */
export function noRoomInQuota(what: 'chunk' | 'record' | 'collection', left: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The ${what} does not fit into the quota of the project, which has ${left} bytes left. Delete files, records, chunks or collections, and retry.`,
    { details: [{ bytes_left: left }], retryAfter: 60 },
  );
}

/** The text of a pair is derived from its question and answer. */
export function pairHasNoContent(id: string): Problem {
  const found = `a new text for the question-answer pair ${JSON.stringify(id)}`;
  return fieldInvalid('body/content', found, 'absent for a pair: send `question` or `answer`');
}

export function notAPair(id: string, field: 'question' | 'answer'): Problem {
  const found = `a new ${field} for the passage ${JSON.stringify(id)}`;
  return fieldInvalid(`body/${field}`, found, 'absent for a passage: send `content`');
}

export const { noEmbeddingModel, encryptionKeyMissing } = problemsOf('NOT_CONFIGURED', {
  noEmbeddingModel: `No embedding model is configured. Run "${commandName} embedding use multilingual-e5-small", or set QUARTERMASTER_EMBEDDING_PROVIDER and restart the service.`,
  encryptionKeyMissing:
    'Passwords of files are stored until the record is processed, which needs an encryption key. Set QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE.',
});

export function unknownModel(id: string, known: readonly string[]): Problem {
  return fieldInvalid(
    'query/embedding_model_id',
    JSON.stringify(id),
    `the id of a configured model: ${known.join(', ')}`,
  );
}

/** @param reason a sentence for people, without credentials */
export function modelFailed(model: string, reason: string): Problem {
  return new Problem('PROVIDER_ERROR', `The model ${model} does not work, so nothing was changed. ${reason}`);
}

export const { tooManyCollections, tooManyRecords, tooManyWaiting } = problemsOf(
  'RESOURCE_LIMIT_REACHED',
  {
    tooManyCollections: (most: number) =>
      `The project has ${most} collections, which is the maximum (collections being deleted count). Delete some and retry.`,
    tooManyRecords: (most: number) =>
      `The collection has ${most} records, which is the maximum. Delete some, or create another collection.`,
    tooManyWaiting: (most: number) =>
      `${most} records of the project are waiting to be processed, which is the maximum. Retry when some are ready.`,
  },
  { retryAfter: 60 },
);
