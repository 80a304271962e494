import { type ErrorCode, errorCodes } from '@quartermaster/contract';
import { quoteText } from './quote-text.ts';

export interface ProblemOptions {
  /** Data for programs: field paths, upstream status. It must not contain credentials, stack traces or paths of the server. */
  readonly details?: ReadonlyArray<Record<string, unknown>>;
  /** Seconds; sent as `Retry-After`. */
  readonly retryAfter?: number;
  /** Additional response headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Logged, but not sent. */
  readonly cause?: unknown;
  /** Whether the service or its machine failed. The response is then logged as an error, whatever its status. */
  readonly isFault?: true;
  /**
   * The state of the machine that the operator must end, such as `disk_full`. The log gets warnings without stacks, at most one
   * each minute.
   */
  readonly condition?: string;
  /** The code that throws the problem has already logged it, so the request log does not repeat it. */
  readonly isLogged?: true;
}

/** An error that is sent to the caller. The factories in each module's `problems.ts` create it. */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ReadonlyArray<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly isFault: boolean;
  readonly condition: string | undefined;
  readonly isLogged: boolean;

  constructor(code: ErrorCode, message: string, options: ProblemOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = errorCodes[code].status;
    this.details = options.details;
    this.isFault = options.isFault === true;
    this.condition = options.condition;
    this.isLogged = options.isLogged === true;
    this.headers = {
      ...options.headers,
      ...(options.retryAfter === undefined ? {} : { 'Retry-After': String(options.retryAfter) }),
    };
  }
}

/** Messages by the names of their errors. A function builds its message from parameters. */
export type Messages = Readonly<Record<string, string | ((...values: never[]) => string)>>;

export type Factories<Texts extends Messages, Failure> = {
  readonly [Name in keyof Texts]: Texts[Name] extends (...values: infer Values) => string
    ? (...values: Values) => Failure
    : () => Failure;
};

/** Returns a factory for each message. */
export function factoriesOf<const Texts extends Messages, Failure>(
  texts: Texts,
  create: (message: string) => Failure,
): Factories<Texts, Failure> {
  const entries = Object.entries(texts).map(([name, text]) => {
    return [name, (...values: never[]) => create(typeof text === 'string' ? text : text(...values))] as const;
  });
  // Each factory has the parameters of its message.
  return Object.fromEntries(entries) as unknown as Factories<Texts, Failure>;
}

/** Returns factories of problems that differ only in their messages. */
export function problemsOf<const Texts extends Messages>(code: ErrorCode, texts: Texts, options: ProblemOptions = {}) {
  return factoriesOf(texts, (message) => new Problem(code, message, options));
}

/** Whether a retry may succeed later: the database is unavailable, the disk is full, or the load is too high. */
export function isTemporary(error: unknown): error is Problem {
  return error instanceof Problem && error.headers['Retry-After'] !== undefined;
}

/** The object does not exist or belongs to another project. The response does not reveal which. */
export function objectNotFound(kind: string, id: string): Problem {
  return new Problem(
    'OBJECT_NOT_FOUND',
    `No ${kind} with the id ${quoteText(id)} was found. Check the id and the project of the API key.`,
  );
}

/** Both cursors of a list were sent. */
export function cursorsConflict(): Problem {
  return new Problem('REQUEST_VALIDATION_ERROR', 'query/after and query/before exclude each other. Send one of them.', {
    details: [{ path: 'query', found: 'both after and before', expected: 'one of them' }],
  });
}

/** The request names a path that this address does not serve. */
export function pathNotFound(): Problem {
  return new Problem('OBJECT_NOT_FOUND', 'This address serves nothing at this path. Check the path and the port.');
}
