import { DifyError, DifyRecords, DifyRetrieval } from '@quartermaster/contract';
import { dialectOperations } from '@quartermaster/contract/operations';
import { whileConnected } from '../../../platform/client-gone.ts';
import type { App } from '../../../platform/http/app.ts';
import type { CreateErrorWriter } from '../../../platform/http/error-writer.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { type DifyKnowledge, retrieveForDify } from './retrieve-for-dify.ts';
import { toDifyError } from './to-dify-error.ts';

export interface DifyRoutesDeps extends DifyKnowledge {
  readonly guard: Guard;
  readonly createErrorWriter: CreateErrorWriter;
  readonly handleNotFound: (scope: App) => void;
}

/** The External Knowledge API of Dify, below `/dify`. Dify appends `/retrieval` to the endpoint `…/dify`. Source: ADR 0096. */
export function difyRoutes(
  scope: App,
  { guard, createErrorWriter, handleNotFound, ...knowledge }: DifyRoutesDeps,
): void {
  scope.setErrorHandler(createErrorWriter((problem, request) => toDifyError(problem, request.id)));
  handleNotFound(scope);
  scope.post(
    '/retrieval',
    {
      onRequest: guard.requires('collections'),
      schema: {
        ...dialectOperations.retrieveForDify,
        body: DifyRetrieval,
        response: { 200: DifyRecords, default: DifyError },
      },
    },
    (request, reply) =>
      whileConnected(reply, (signal) => retrieveForDify(knowledge, guard.callerOf(request), request.body, signal)),
  );
}
