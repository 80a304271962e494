import type { RunCaller } from '../execution/run-journal.ts';
import { type Channel, createLibraryEndpoint } from './library-endpoint.ts';
import { createPlainAnswers } from './plain-answers.ts';
import { type ReadHeader, readPlainRequest } from './plain-request.ts';
import type { ProtocolServerDeps } from './protocol-server.ts';
import type { Toolbox } from './toolbox.ts';

/** Streamable HTTP for one toolbox, without state: every request stands for itself, whatever its revision. */
export interface Endpoint {
  /** @param request its signal aborts when the client has gone before it was answered */
  answer(request: McpRequest, message: unknown, caller: McpCaller): Promise<McpAnswer>;
}

/** What is read of a request whose body is parsed already. */
export interface McpRequest {
  readonly headerOf: ReadHeader;
  /** All headers that may be read. */
  readonly headers: () => Headers;
  readonly signal: AbortSignal;
}

export interface McpAnswer {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  /** All of it, or as it comes. */
  readonly body: Buffer | ReadableStream | null;
}

/** On whose behalf a tool runs, as its journal wants it. */
export type McpCaller = Pick<RunCaller, 'projectId' | 'keyId'>;

/** Plain requests are answered by us, the others by the library; nobody can tell which it was (ADR 0057). */
export function createEndpoint(toolbox: Toolbox, deps: ProtocolServerDeps, channel: Channel): Endpoint {
  const library = createLibraryEndpoint(toolbox, deps, channel);
  const plain = createPlainAnswers(toolbox, deps);
  return {
    async answer(asked, message, caller) {
      const { headerOf, signal } = asked;
      const request = readPlainRequest(headerOf, message);
      const answer = request === null ? null : await plain.answer(request, { ...caller, headerOf, signal });
      return answer ?? (await library.answer(asked, message, caller));
    },
  };
}
