import type { ErrorCode } from '@quartermaster/contract';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, pathNotFound } from '../kernel/problem.ts';
import { quoteText } from '../kernel/quote-text.ts';
import { noteProblem } from './log-refusals.ts';
import { validationProblem } from './validation.ts';

/** The one place that writes an error. Source: docs/contract.md "Both addresses". */
export function writeError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error, request);
  noteProblem(request, problem);
  if (problem.isFault || (problem.status >= 500 && problem.status !== 502 && problem.status !== 503)) {
    request.log.error({ err: error, request_id: request.id, code: problem.code }, 'request failed');
  }
  const asProblemJson = wantsProblemJson(request.headers.accept);
  reply
    .code(problem.status)
    .headers(problem.headers)
    .header('Content-Type', asProblemJson ? 'application/problem+json' : 'application/json; charset=utf-8')
    .header('Cache-Control', 'no-store')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(asProblemJson ? problemBody(problem, request.id) : errorBody(problem, request.id));
}

/** The error envelope. */
export function errorBody(problem: Problem, requestId: string) {
  return {
    status: 'error',
    error: {
      code: problem.code,
      message: problem.message,
      ...(problem.details === undefined ? {} : { details: problem.details }),
      request_id: requestId,
    },
  };
}

/** The same as RFC 9457. */
function problemBody(problem: Problem, requestId: string) {
  return {
    type: `urn:quartermaster:error:${problem.code}`,
    title: problem.code,
    status: problem.status,
    detail: problem.message,
    ...(problem.details === undefined ? {} : { details: problem.details }),
    request_id: requestId,
  };
}

function wantsProblemJson(accept: string | undefined): boolean {
  return accept?.includes('application/problem+json') === true;
}

function toProblem(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof Problem) return error;
  const failure = error as Partial<FastifyError>; // Fastify's own errors carry a code and a status
  if (failure.validation !== undefined) {
    const part = failure.validationContext === 'querystring' ? 'query' : failure.validationContext;
    return validationProblem(failure.validation, part);
  }
  const known = failure.code === undefined ? undefined : frameworkProblems[failure.code];
  if (known !== undefined) return new Problem(known.code, known.message(request), { cause: error });
  if (failure.statusCode !== undefined && failure.statusCode >= 400 && failure.statusCode < 500) {
    return new Problem('INVALID_REQUEST', 'The request is malformed. Check its syntax.', { cause: error });
  }
  return new Problem(
    'INTERNAL_SERVER_ERROR',
    'The service failed unexpectedly. Search its log for the request id to find the reason.',
    {
      cause: error,
    },
  );
}

/** Replaces the messages of Fastify's own errors. */
const frameworkProblems: Record<string, { code: ErrorCode; message: (request: FastifyRequest) => string }> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'FILE_TOO_LARGE',
    message: (request) => `The request body is larger than ${request.routeOptions.bodyLimit} bytes.`,
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: (request) =>
      `Content-Type must be application/json; received ${quoteText(request.headers['content-type'] ?? '')}.`,
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'INVALID_REQUEST',
    message: () => 'The length of the body differs from Content-Length.',
  },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'INVALID_REQUEST', message: () => 'The body is empty. Send JSON.' },
  FST_ERR_BAD_URL: {
    code: 'INVALID_REQUEST',
    message: () => 'The path is not a valid URL path. Percent-encode special characters.',
  },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'OBJECT_NOT_FOUND', message: () => pathNotFound().message },
};
