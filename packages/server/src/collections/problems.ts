import type { SplitterComplaint } from '../extraction/check-splitter.ts';
import { fieldInvalid, objectNotFound, Problem } from '../kernel/problem.ts';

export function collectionNotFound(id: string): Problem {
  return objectNotFound('collection', id);
}

export function recordNotFound(id: string): Problem {
  return objectNotFound('record', id);
}

/** Others changed it each time that this request was about to. */
export function recordBusy(id: string): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    `The record ${id} was changed by other requests all the time; send this again.`,
  );
}

export function rowNotFound(id: string): Problem {
  return objectNotFound('row', id);
}

export function chunkNotFound(id: string): Problem {
  return objectNotFound('chunk', id);
}

export function fileNotFound(id: string): Problem {
  return objectNotFound('file', id);
}

export function splitterRefused({ field, found, expected }: SplitterComplaint): Problem {
  return fieldInvalid(`body/text_splitter/${field}`, found, expected);
}

export function holdsNul(path: string): Problem {
  return fieldInvalid(path, 'text with the character U+0000', 'text without it');
}

/** Names both sides of a pair that does not fit: the record's type and the collection's. */
export function collectionTypeMismatch(recordType: string, needed: string, found: string): Problem {
  const both = `a record of type "${recordType}" for a collection of type "${found}"`;
  return fieldInvalid('body/type', both, `a collection of type "${needed}"`);
}

/** Names both sides of a pair that does not fit: the record's type and the file's purpose. */
export function purposeMismatch(recordType: string, needed: string, found: string): Problem {
  const both = `a file with the purpose "${found}" for a record of type "${recordType}"`;
  return fieldInvalid('body/file_id', both, `one with the purpose "${needed}"`);
}

export function collectionFull(id: string, capacity: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The collection ${JSON.stringify(id)} has no room for another chunk: its capacity is ${capacity}.`,
    { details: [{ capacity }], retryAfter: 60 },
  );
}

/** The question and answer of a pair come from its sheet: changing the text of the chunk would part them from it. */
export function pairContentFixed(id: string): Problem {
  const found = `other text for the chunk ${JSON.stringify(id)}, which is a question-answer pair`;
  return fieldInvalid('body/content', found, 'the sheet to be changed and its record updated');
}

export function tooManyDryRuns(limit: number): Problem {
  return new Problem('TOO_MANY_REQUESTS', `${limit} dry runs are under way already; try again when one has ended.`, {
    retryAfter: 5,
  });
}

export function noEmbeddingModel(): Problem {
  return new Problem('INVALID_REQUEST', 'No embedding model is configured: see QUARTERMASTER_EMBEDDING_PROVIDER.');
}

export function tooManyCollections(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The project has ${most} collections, the most it may have; those that are being deleted count. Delete some first.`,
    { retryAfter: 60 },
  );
}

export function tooManyRecords(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The collection has ${most} records, the most it may have. Delete some, or create another collection.`,
    { retryAfter: 60 },
  );
}

export function tooManyWaiting(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `${most} records of the project wait to be processed, the most that may. Retry when some are ready.`,
    { retryAfter: 60 },
  );
}
