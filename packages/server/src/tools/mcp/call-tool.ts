import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Artifact, ExecuteResult, PluginCall } from '@quartermaster/contract';
import { type ResolveCredentials, resolveRequest } from '../../access/credential-profiles/resolve-credentials.ts';
import { readIdempotencyKey } from '../../platform/idempotency/idempotency.ts';
import { Problem } from '../../platform/problem.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import { checkCredentialBounds } from '../catalogue/credential-bounds.ts';
import { resultOf } from '../execution/answers.ts';
import type { Executor } from '../execution/executor.ts';
import { outcomeProblem } from '../execution/problems.ts';
import type { RunCaller } from '../execution/run-observer.ts';
import type { RunOnce } from '../execution/run-once.ts';
import type { SvgConverter } from '../pictures/svg-converter.ts';
import { resultOfProblem, resultOfRun } from './call-result.ts';
import { type ReadHeader, readCredentials } from './credentials.ts';
import { metaKeys } from './meta-keys.ts';

export interface CallToolDeps {
  readonly executor: Executor;
  readonly once: RunOnce;
  readonly resolveCredentials: ResolveCredentials;
  /** null where no part of an output is stored. */
  readonly artifacts: Pick<ArtifactStore, 'get' | 'read' | 'idOf'> | null;
  readonly svgConverter: Pick<SvgConverter, 'toPng'>;
}

/** One call of a tool. */
export interface ToolCall {
  readonly plugin: CompiledPlugin;
  readonly input: Record<string, unknown>;
  readonly headerOf: ReadHeader;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** `-` when the caller has no project. */
  readonly projectId: string;
  /** Absent without a key. */
  readonly keyId?: string | undefined;
  /** The scopes of the key. Absent without a key. */
  readonly scopes?: RunCaller['scopes'];
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  readonly onProgress: RunCaller['onProgress'];
}

/** Runs the plugin of a tool. Every failure is a result that the model can read; only a defect throws. */
export type CallTool = (call: ToolCall) => Promise<CallToolResult>;

export function createCallTool(deps: CallToolDeps): CallTool {
  const { executor, once, resolveCredentials, artifacts, svgConverter } = deps;
  /** Undefined when the artifact has expired, or its bytes cannot be read: the result still has its link. */
  async function readArtifact(projectId: string, artifact: Artifact): Promise<Buffer | undefined> {
    try {
      return await artifacts?.read(await artifacts.get(projectId, artifacts.idOf(artifact)));
    } catch {
      return undefined;
    }
  }

  async function run(request: PluginCall, call: ToolCall): Promise<ExecuteResult> {
    const { projectId, keyId, scopes, onProgress, signal } = call;
    const key = readIdempotencyKey(idempotencyKeyOf(call));
    const running = new AbortController();
    const cancel = () => running.abort();
    const caller: RunCaller = { projectId, keyId, scopes, origin: 'mcp', cancel, onProgress };
    const start = async () => {
      const resolved = await resolveRequest(resolveCredentials, projectId, request);
      return await executor.execute(resolved, running.signal, caller);
    };
    // With an idempotency key the run continues after the client disconnects, so that a retry finds its answer.
    if (key !== undefined) return await once.runOnce({ projectId, key, keyId }, request, start);
    const end = () => running.abort();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const execution = await start().finally(() => signal.removeEventListener('abort', end));
    const { outcome, runId } = execution;
    if (signal.aborted) throw new Error('the client has gone');
    if (outcome.kind !== 'succeeded') throw outcomeProblem(outcome, runId);
    return resultOf(execution);
  }

  return async (call) => {
    const { plugin, input } = call;
    try {
      const credentials = readCredentials(plugin.bundle, call);
      checkCredentialBounds(credentials);
      const request = { bundle_id: plugin.bundle.id, plugin_id: plugin.id, input_params: input, credentials };
      const owner = { projectId: call.projectId, keyId: call.keyId ?? null };
      return await resultOfRun(
        await run(request, call),
        {
          readArtifact: (artifact) => readArtifact(call.projectId, artifact),
          toPng: (svg) => svgConverter.toPng(svg, owner, call.signal),
          storesArtifacts: artifacts !== null,
        },
        { readsStructure: readsStructure(call) },
      );
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return resultOfProblem(error, hintFor(error, plugin.bundle));
    }
  };
}

/** The first revision with structured content. Clients of earlier revisions do not send the header. */
const structureSince = '2025-06-18';

function readsStructure({ headerOf }: ToolCall): boolean {
  return (headerOf('mcp-protocol-version') ?? '') >= structureSince;
}

/** A key that is not a string is malformed rather than absent, because the caller relies on it. */
function idempotencyKeyOf({ meta }: ToolCall): string | undefined {
  const key = meta?.[metaKeys.idempotencyKey];
  return key === undefined || typeof key === 'string' ? key : '';
}

function hintFor(problem: Problem, bundle: CompiledBundle): string | null {
  const isAboutCredentials =
    problem.code === 'CREDENTIALS_VALIDATION_ERROR' || problem.message.startsWith('body/credentials');
  if (!isAboutCredentials) return null;
  const names = Object.keys(Object(Reflect.get(bundle.manifest.credentials_schema ?? {}, 'properties')));
  if (names.length === 0) return null;
  return (
    `This tool needs the credentials ${names.join(', ')} of ${bundle.manifest.provider}, which are never arguments: ` +
    `the person who configures this client sends each as the HTTP header X-Credential-<NAME>.`
  );
}
