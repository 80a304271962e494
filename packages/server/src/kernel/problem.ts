import { type ErrorCode, errorCodes } from '@quartermaster/contract';

export interface ProblemOptions {
  /** More about it, for programs: field paths, upstream status. Never a credential, a stack or a path of the server. */
  readonly details?: ReadonlyArray<Record<string, unknown>>;
  /** Seconds; sent as `Retry-After`. */
  readonly retryAfter?: number;
  /** Further answer headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  readonly cause?: unknown;
  /** The machine failed: logged as an error, also with a status that is not logged otherwise. */
  readonly isFault?: true;
  /** Whoever throws it has logged it: a refused request is logged otherwise. */
  readonly isLogged?: true;
}

/** A failure that the caller is told about. Made by the named factories in each room's `problems.ts`. */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ReadonlyArray<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly isFault: boolean;
  readonly isLogged: boolean;

  constructor(code: ErrorCode, message: string, options: ProblemOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = errorCodes[code].status;
    this.details = options.details;
    this.isFault = options.isFault === true;
    this.isLogged = options.isLogged === true;
    this.headers = {
      ...options.headers,
      ...(options.retryAfter === undefined ? {} : { 'Retry-After': String(options.retryAfter) }),
    };
  }
}

/** Whether a retry may succeed later: the database is unavailable, the disk is full or there is too much load. */
export function isTemporary(error: unknown): error is Problem {
  return error instanceof Problem && error.headers['Retry-After'] !== undefined;
}

/** The object does not exist, or belongs to another project: the same answer. */
export function objectNotFound(kind: string, id: string): Problem {
  return new Problem('OBJECT_NOT_FOUND', `There is no ${kind} with the id ${JSON.stringify(id)}.`);
}

/** One field is wrong. `path` is where, such as `body/purpose`; `found` and `expected` are phrases for things. */
export function fieldInvalid(path: string, found: string, expected: string): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', `${path}: found ${found}; expected ${expected}.`, {
    details: [{ path, found, expected }],
  });
}
