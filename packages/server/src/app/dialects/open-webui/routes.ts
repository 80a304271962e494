import type { LoaderError } from '@quartermaster/contract';
import { dialectOperations } from '@quartermaster/contract/operations';
import { Type } from 'typebox';
import type { App } from '../../../platform/http/app.ts';
import type { CreateErrorWriter, ErrorResponse } from '../../../platform/http/error-writer.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import type { Problem } from '../../../platform/problem.ts';
import type { TemporaryFiles } from '../../../stores/files/upload/temporary-file.ts';
import { type DocumentLoaderDeps, loadDocument, longestName, readDocumentName } from './load-document.ts';

export interface OpenWebUiRoutesDeps extends DocumentLoaderDeps {
  readonly guard: Guard;
  readonly createErrorWriter: CreateErrorWriter;
  readonly handleNotFound: (scope: App) => void;
  readonly temporaryFiles: TemporaryFiles;
}
const DocumentHeaders = Type.Object({
  'x-filename': Type.Optional(
    Type.String({ maxLength: longestName, description: 'Name of the file, percent-encoded.' }),
  ),
});

/** The external document loader of Open WebUI, below `/openwebui`. It appends `/process` to the URL `…/openwebui`. Source: ADR 0096. */
export function openWebUiRoutes(scope: App, deps: OpenWebUiRoutesDeps): void {
  const { guard, createErrorWriter, handleNotFound, temporaryFiles, ...loader } = deps;
  scope.setErrorHandler(createErrorWriter((problem, request) => toLoaderError(problem, request.id)));
  // The body has the type of the document, JSON included, and reaches the handler unparsed.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  handleNotFound(scope);
  scope.put(
    '/process',
    {
      onRequest: guard.requires('files'),
      validatorCompiler: () => () => true,
      schema: { ...dialectOperations.loadForOpenWebUi, headers: DocumentHeaders },
    },
    async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const { projectId, keyId } = guard.callerOf(request);
      const name = readDocumentName(request.headers);
      return temporaryFiles.receive({ projectId, keyId, headers: request.headers }, request.raw, (file) =>
        loadDocument(loader, { ...name, ...file, projectId, keyId, requestId: request.id }, gone.signal),
      );
    },
  );
}

/** Writes an error in the form of Open WebUI, which shows `detail`. */
function toLoaderError(problem: Problem, requestId: string): ErrorResponse {
  const reason = problem.details?.[0]?.reason;
  const body: LoaderError = {
    detail: problem.message,
    code: problem.code,
    ...(typeof reason === 'string' ? { reason } : {}),
    request_id: requestId,
  };
  return { status: problem.status, contentType: 'application/json; charset=utf-8', body };
}
