import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Artifact } from '@quartermaster/contract';
import { readIdempotencyKey } from '../../platform/idempotency/idempotency.ts';
import { Problem } from '../../platform/problem.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import { checkCredentialBounds } from '../catalogue/credential-bounds.ts';
import { type AnswerCallDeps, answerCall } from '../execution/answer-call.ts';
import type { RunCaller } from '../execution/run.ts';
import type { SvgConverter } from '../pictures/svg-converter.ts';
import { resultOfProblem, resultOfRun } from './call-result.ts';
import { nameCredentials, type ReadHeader, readCredentials } from './credentials.ts';
import { metaKeys } from './meta-keys.ts';

export interface CallToolDeps extends AnswerCallDeps {
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
  readonly caller: Omit<RunCaller, 'cancel'>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Runs the plugin of a tool. Every failure is a result that the model can read; only a defect throws. */
export type CallTool = (call: ToolCall) => Promise<CallToolResult>;

export function createCallTool(deps: CallToolDeps): CallTool {
  const { artifacts, svgConverter } = deps;
  /** Undefined when the artifact has expired, or its bytes cannot be read: the result still has its link. */
  async function readArtifact(projectId: string | null, artifact: Artifact): Promise<Buffer | undefined> {
    try {
      return await artifacts?.read(await artifacts.get(projectId, artifacts.idOf(artifact)));
    } catch {
      return undefined;
    }
  }

  return async (call) => {
    const { plugin, input, caller, signal } = call;
    try {
      const credentials = readCredentials(plugin.bundle, call);
      checkCredentialBounds(credentials);
      const request = { bundle_id: plugin.bundle.id, plugin_id: plugin.id, input_params: input, credentials };
      const key = readIdempotencyKey(idempotencyKeyOf(call));
      const result = await answerCall(deps, { request, key, caller, gone: signal });
      if (result === null) throw new Error('the client has gone');
      return await resultOfRun(
        result,
        {
          readArtifact: (artifact) => readArtifact(caller.projectId, artifact),
          toPng: (svg) => svgConverter.toPng(svg, caller, signal),
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
  if (bundle.credentialNames.size === 0) return null;
  return (
    `This tool needs the credentials ${nameCredentials(bundle)} of ${bundle.manifest.provider}, which are never arguments: ` +
    `the person who configures this client sends each as the HTTP header X-Credential-<NAME>.`
  );
}
