import { objectNotFound, Problem } from '../kernel/problem.ts';

export function collectionNotFound(id: string): Problem {
  return objectNotFound('collection', id);
}

export function recordNotFound(id: string): Problem {
  return objectNotFound('record', id);
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

/** `path` is where, such as `body/content`; `needed` a phrase. */
export function fieldMissing(path: string, needed: string): Problem {
  return invalid(path, `${path}: missing; expected ${needed}.`);
}

export function fieldRefused(path: string, found: string, expected: string): Problem {
  return invalid(path, `${path}: ${found}; expected ${expected}.`);
}

/** `complaint` is a sentence that starts with the field, as `extraction/check-splitter.ts` makes it. */
export function splitterRefused(complaint: string): Problem {
  return invalid(`body/${complaint.slice(0, complaint.indexOf(':'))}`, `body/${complaint}`);
}

export function holdsNul(path: string): Problem {
  return fieldRefused(path, 'holds the character U+0000', 'text without it');
}

/** Names both sides of a pair that does not fit: the record's type and the collection's. */
export function collectionTypeMismatch(recordType: string, needed: string, found: string): Problem {
  return invalid(
    'body/type',
    `body/type: a record of type "${recordType}" needs a collection of type "${needed}"; this collection is of type "${found}".`,
  );
}

/** Names both sides of a pair that does not fit: the record's type and the file's purpose. */
export function purposeMismatch(recordType: string, needed: string, found: string): Problem {
  return invalid(
    'body/file_id',
    `body/file_id: a record of type "${recordType}" needs a file with the purpose "${needed}"; this file has the purpose "${found}".`,
  );
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
  return invalid(
    'body/content',
    `body/content: the chunk ${JSON.stringify(id)} is a question-answer pair; change the sheet and update its record.`,
  );
}

export function tooManyListeners(limit: number): Problem {
  return new Problem(
    'TOO_MANY_REQUESTS',
    `${limit} event streams are open already; close one, or read the record instead.`,
    { retryAfter: 5 },
  );
}

export function tooManyDryRuns(limit: number): Problem {
  return new Problem('TOO_MANY_REQUESTS', `${limit} dry runs are under way already; try again when one has ended.`, {
    retryAfter: 5,
  });
}

export function noEmbeddingModel(): Problem {
  return new Problem('INVALID_REQUEST', 'No embedding model is configured: see QUARTERMASTER_EMBEDDING_PROVIDER.');
}

function invalid(path: string, message: string): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', message, { details: [{ path }] });
}
