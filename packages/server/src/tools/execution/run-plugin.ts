import type { RemoteTool } from '@quartermaster/plugin-kit';
import type { Admission } from '../../platform/admission/admission.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import type { JsonSchema } from '../catalogue/schema/compile-schema.ts';
import type { Broker } from '../egress/broker.ts';
import { redactedOr } from '../egress/redact/redaction-budget.ts';
import { redacted } from '../egress/redact/redactor.ts';
import { createAnswerReader } from './declarative/answer-reader.ts';
import { type CallContext, type PreparedCall, runCall } from './declarative/declarative.ts';
import { blamesCredentials } from './declarative/interpret-answer.ts';
import type { ExecutionLimits } from './executor.ts';
import { type BlameRules, createHandlerFetch } from './handler-fetch.ts';
import { toHandlerInput } from './handler-input.ts';
import { jsonBytes } from './json-bounds.ts';
import type { Outcome } from './outcome.ts';
import type { SplitOutput } from './output-parts/split-output.ts';
import { createToolRunner } from './remote-tools/run-tool.ts';
import type { ObservedRun, RunObserver, RunProgress } from './run-observer.ts';
import type { RunPolicy } from './run-policy.ts';
import type { Sandbox, SandboxTask } from './sandbox/sandbox.ts';
import type { LargeAnswers } from './unused-answers/large-answers.ts';
import { type Unusable, withUnusedAnswer } from './unused-answers/unused-answer.ts';
import type { ErrorRules } from './upstream-answers/error-rules.ts';

/** One run, from its first check to its end. */
export interface Run extends ObservedRun {
  readonly bundle: CompiledBundle;
  readonly policy: RunPolicy;
  readonly signal: AbortSignal;
  /** The schema of the input; undefined for a check of credentials. */
  readonly inputSchema?: () => JsonSchema;
  /** Receives answers that are larger than the bundle allows. */
  readonly largeAnswers: LargeAnswers;
}

/** The outcome of a run before its output is validated and redacted. */
export type RawOutcome =
  | ({
      readonly kind: 'returned';
      readonly output: unknown;
      /** The contents of a tool of an MCP server beside its structured output. */
      readonly contents?: readonly unknown[];
    } & Partial<Pick<SplitOutput, 'parts'>>)
  | (Exclude<Outcome, { kind: 'succeeded' }> & Unusable);

/** Runs a plugin: declarative calls and remote tools in this process, handlers in the sandbox. */
export interface PluginRunner {
  runTool(tool: RemoteTool, run: Run): Promise<RawOutcome>;
  runDeclarative(call: PreparedCall, run: Run): Promise<RawOutcome>;
  runHandler(handlerPath: string, run: Run): Promise<RawOutcome>;
}

export interface PluginRunnerDeps {
  readonly broker: Broker;
  readonly sandbox: Sandbox;
  readonly logger: Logger;
  readonly limits: ExecutionLimits;
  readonly observer: RunObserver;
  /** The call that verifies the credentials of a bundle, if the bundle declares one. */
  readonly verification: (bundle: CompiledBundle) => PreparedCall | null;
  /** The `errors` of a bundle. */
  readonly errorRules: (bundle: CompiledBundle) => ErrorRules;
  readonly version?: string;
  readonly admission: Admission;
}

export function createPluginRunner(deps: PluginRunnerDeps): PluginRunner {
  const { broker, sandbox, logger, limits, observer, version = '0.0.0' } = deps;
  const reader = createAnswerReader(deps.admission);
  const tools = createToolRunner({ version, beliefMs: limits.toolBeliefMs });

  async function runHere(
    { bundle, policy, signal, trace, caller }: Run,
    start: (context: CallContext & { readonly signal: AbortSignal }) => Promise<RawOutcome>,
  ): Promise<RawOutcome> {
    trace.pluginBeganAt = performance.now();
    const { maxOutputBytes } = limits;
    const owner = { projectId: caller.projectId, keyId: caller.keyId ?? null };
    const errors = deps.errorRules(bundle);
    const outcome = await start({ broker, reader, owner, policy: policy.egress, maxOutputBytes, signal, errors });
    return withoutBlame(outcome, bundle);
  }

  /** Uses the rules of the verification call to recognise rejected credentials; without that call, status 401. */
  function blameRulesOf(bundle: CompiledBundle): BlameRules {
    const call = deps.verification(bundle);
    return {
      errors: deps.errorRules(bundle),
      blamesCredentials: (answer) => (call === null ? answer.status === 401 : blamesCredentials(call.response, answer)),
    };
  }

  return {
    runDeclarative: (call, run) => runHere(run, (context) => runCall(call, run.input, context)),

    async runTool(tool, run) {
      const { redactor } = run.policy.egress;
      const redact = (text: string) => redactedOr(redacted, () => redactor.text(text));
      const report = run.caller.onProgress;
      const onProgress =
        report &&
        ((progress: RunProgress) => report({ ...progress, message: progress.message && redact(progress.message) }));
      return await runHere(run, (context) => tools.run(tool, run.input, { ...context, onProgress }));
    },

    async runHandler(handlerPath, run) {
      const { bundle, policy, signal, input } = run;
      const { timeoutMs, memoryMb, cpuMs, maxRequests } = policy;
      // The process may send any text. A text that cannot be redacted must not fail more than its own run.
      const redact = (text: string) => redactedOr(redacted, () => policy.egress.redactor.text(text));
      const handlerFetch = createHandlerFetch(broker, policy, blameRulesOf(bundle));
      const task: SandboxTask = {
        bundleId: bundle.id,
        projectId: run.caller.projectId,
        keyId: run.caller.keyId,
        isolation: bundle.isolation === 'sandbox' ? ('sandbox' as const) : ('process' as const),
        bundleFolder: bundle.folder,
        bundleStamp: bundle.stamp,
        handlerPath,
        ...(run.pluginId === null ? {} : { pluginId: run.pluginId }),
        input: toHandlerInput(input, run.inputSchema),
        limits: { timeoutMs, memoryMb, cpuMs, maxRequests, maxOutputBytes: limits.maxOutputBytes },
        onFetch: handlerFetch.fetch,
        onLog: (message: string, fields?: Record<string, unknown>) => logForPlugin(logger, run, { message, fields }),
        onProgress: (fraction: number, message: string | undefined) => {
          const progress = { fraction, message: message && redact(message) };
          run.caller.onProgress?.(progress);
          observer.progressed(run, progress);
        },
        timings: run.trace,
        redact,
      };
      const outcome = await sandbox.run(task, signal);
      if (outcome.kind === 'returned_large') {
        const { maxOutputBytes } = limits;
        const owner = { projectId: run.caller.projectId, keyId: run.caller.keyId ?? null };
        const read = await reader.readOutput(outcome.json, { owner, maxOutputBytes, signal });
        return withUnusedAnswer(read, handlerFetch.lastAnswer());
      }
      const failure: RawOutcome =
        outcome.kind === 'failed' ? { ...(handlerFetch.blame() ?? outcome), isUnusable: true } : outcome;
      return withoutBlame(withUnusedAnswer(failure, handlerFetch.lastAnswer()), bundle);
    },
  };
}

/** A bundle that takes no credentials has none to check. The third party rejected the request. */
function withoutBlame(outcome: RawOutcome, { manifest }: CompiledBundle): RawOutcome {
  if (outcome.kind !== 'credentials_rejected' || manifest.credentials_schema !== undefined) return outcome;
  return { ...outcome, kind: 'upstream_rejected' };
}

const maxLogBytes = 4096;

/**
 * Logs a message of a handler: bounded, redacted, and in fields of its own so that it cannot imitate the service. A message
 * that cannot be redacted is left out.
 */
function logForPlugin(
  logger: Logger,
  { runId, bundle, policy }: Run,
  { message, fields }: { message: string; fields: Record<string, unknown> | undefined },
): void {
  const { redactor } = policy.egress;
  const isSmall = (jsonBytes(fields) ?? maxLogBytes + 1) <= maxLogBytes;
  const redactedText = redactedOr(redacted, () => redactor.text(message).slice(0, maxLogBytes));
  const loggedFields = isSmall ? redactedOr(undefined, () => redactor.deep(fields)) : undefined;
  const line = { run_id: runId, bundle: bundle.id, message: redactedText };
  logger.info(loggedFields === undefined ? line : { ...line, fields: loggedFields }, 'plugin logged');
}
