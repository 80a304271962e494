import { ApiError, ConnectionError, TimeoutError } from '@quartermaster/client';
import { commandName } from '@quartermaster/contract/command-name';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.ts';

/** The failure of a command as its user sees it. */
export interface Failure {
  /** Begins with the code of the error of the service, if there is one. */
  readonly message: string;
  /** The message without this code. */
  readonly reason?: string;
  readonly exitCode: ExitCode;
  /** The code of the error of the service. */
  readonly code?: string;
  /** The details of the error of the service, such as the id of a failed run. */
  readonly details?: ApiError['details'];
  /** The id under which the service logged the request. */
  readonly requestId?: string;
}

/** Describes the error of a command: the error of the service, or that no service answers. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof ApiError) return describeApiError(error);
  if (error instanceof TimeoutError) return { message: error.message, exitCode: exitCodes.tryAgain };
  if (error instanceof ConnectionError) {
    return {
      message: `No Quartermaster service answers. ${error.message} Check the address, or start the service.`,
      exitCode: exitCodes.unavailable,
    };
  }
  return describeSystemError(error);
}

function describeApiError({ code, message, status, details, requestId, retryAfterMs }: ApiError): Failure {
  const remedy = code === 'APIKEY_VALIDATION_FAILED' ? ` Run "${commandName} login" with another key.` : '';
  const reason = withOptionNames(message) + remedy;
  // A server that is not Quartermaster answers with success.
  const isForeign = code === 'UNREADABLE_ANSWER' && status < 400;
  return {
    message: `${code}: ${reason}`,
    reason,
    exitCode: isForeign ? exitCodes.unavailable : exitCodeOf(status, retryAfterMs !== null),
    code,
    ...(details.length === 0 ? {} : { details }),
    ...(requestId === null ? {} : { requestId }),
  };
}

/** Replaces the paths of an API request by what the user wrote or can run: `query/bundle_id` by `--bundle`. */
function withOptionNames(message: string): string {
  return message
    .replace(/\bquery\/(\w+)/g, (_path, name: string) => `--${name.replace(/_id$/, '').replaceAll('_', '-')}`)
    .replaceAll('body/input_params/', 'input ')
    .replaceAll('body/credentials/', 'credential ')
    .replace(
      /GET \/v1\/bundles\S* lists (?:the bundles|its plugins)\.$/,
      `Run "${commandName} plugins list" to see all.`,
    );
}

const statusCodes: Readonly<Record<number, ExitCode>> = {
  401: exitCodes.notPermitted,
  403: exitCodes.notPermitted,
  404: exitCodes.notFound,
  408: exitCodes.tryAgain,
  429: exitCodes.tryAgain,
  500: exitCodes.internal,
};

function exitCodeOf(status: number, isTemporary: boolean): ExitCode {
  if (isTemporary && status === 409) return exitCodes.tryAgain;
  return statusCodes[status] ?? (status > 500 ? exitCodes.unavailable : exitCodes.invalidData);
}

function describeSystemError(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), exitCode: exitCodes.failed };
  const { code = '', path } = error as NodeJS.ErrnoException; // set for errors of the system
  const known = systemErrors[code];
  if (known === undefined || path === undefined) return { message: error.message, exitCode: exitCodes.failed };
  const [exitCode, describe] = known;
  return { message: describe(path), exitCode };
}

const systemErrors: Readonly<Record<string, readonly [ExitCode, (path: string) => string]>> = {
  ENOENT: [exitCodes.notFound, (path) => `${path} does not exist. Check the path.`],
  EACCES: [
    exitCodes.notPermitted,
    (path) => `${path} cannot be opened: permission denied. Check its mode and its owner.`,
  ],
  EEXIST: [exitCodes.cannotCreate, (path) => `${path} exists already. Delete it, or name another path.`],
  EISDIR: [exitCodes.notFound, (path) => `${path} is a folder. Name a file.`],
  ENOTDIR: [exitCodes.notFound, (path) => `${path} is not a folder. Name a folder.`],
};
