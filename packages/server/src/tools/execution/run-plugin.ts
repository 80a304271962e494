import type { RemoteTool } from '@quartermaster/plugin-kit';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { convertBigInts } from '../../platform/json/exact-json.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import type { JsonSchema } from '../catalogue/schema/compile-schema.ts';
import type { Broker } from '../egress/broker.ts';
import { redactedOr } from '../egress/redact/redaction-budget.ts';
import { redacted } from '../egress/redact/redactor.ts';
import { createAnswerReader } from './declarative/answer-reader.ts';
import { type CallContext, type PreparedCall, runCall } from './declarative/declarative.ts';
import { blamesCredentials } from './declarative/interpret-answer.ts';
import { type BlameRules, createHandlerFetch } from './handler-fetch.ts';
import { jsonBytes } from './json-bounds.ts';
import { type ChoicesQuestion, pieceTaskOf } from './pieces/piece-call.ts';
import type { PreparedCalls } from './prepared-calls.ts';
import { createToolRunner } from './remote-tools/run-tool.ts';
import type { RawOutcome, Run, RunObserver, RunProgress } from './run.ts';
import type { ExecutionLimits } from './run-policy.ts';
import type { Sandbox, SandboxTask } from './sandbox/sandbox.ts';
import { withUnusedAnswer } from './unused-answers/unused-answer.ts';

export interface PluginRunnerDeps extends Pick<CommonDeps, 'admission' | 'logger'> {
  readonly broker: Broker;
  readonly sandbox: Sandbox;
  readonly limits: ExecutionLimits;
  readonly observer: RunObserver;
  readonly calls: PreparedCalls;
  readonly version?: string;
}

/** Runs a plugin: declarative calls and remote tools in this process, handlers in the sandbox. */
export function createPluginRunner(deps: PluginRunnerDeps) {
  const { broker, sandbox, logger, limits, observer, calls, version = '0.0.0' } = deps;
  const { maxOutputBytes } = limits;
  const reader = createAnswerReader(deps.admission);
  const tools = createToolRunner({ version, beliefMs: limits.toolBeliefMs });

  async function runHere(
    { bundle, policy, signal, trace, caller: owner }: Run,
    start: (context: CallContext & { readonly signal: AbortSignal }) => Promise<RawOutcome>,
  ): Promise<RawOutcome> {
    trace.pluginBeganAt = performance.now();
    const errors = calls.errorsOf(bundle);
    const outcome = await start({ broker, reader, owner, policy: policy.egress, maxOutputBytes, signal, errors });
    return withoutBlame(outcome, bundle);
  }

  /** Uses the rules of the verification call to recognise rejected credentials; without that call, status 401. */
  function blameRulesOf(bundle: CompiledBundle): BlameRules {
    const call = calls.ofVerification(bundle);
    return {
      errors: calls.errorsOf(bundle),
      blamesCredentials: (answer) => (call === null ? answer.status === 401 : blamesCredentials(call.response, answer)),
    };
  }

  return {
    runDeclarative: (call: PreparedCall, run: Run): Promise<RawOutcome> =>
      runHere(run, (context) => runCall(call, run.input, context)),

    async runTool(tool: RemoteTool, run: Run): Promise<RawOutcome> {
      const { redactor } = run.policy.egress;
      const redact = (text: string) => redactedOr(redacted, () => redactor.text(text));
      const report = run.caller.onProgress;
      const onProgress =
        report &&
        ((progress: RunProgress) => report({ ...progress, message: progress.message && redact(progress.message) }));
      return await runHere(run, (context) => tools.run(tool, run.input, { ...context, onProgress }));
    },

    /** @param question asks a piece for choices instead of running its action */
    async runHandler(handlerPath: string, run: Run, question?: ChoicesQuestion): Promise<RawOutcome> {
      const { bundle, plugin, policy, signal, input, caller } = run;
      const { timeoutMs, memoryMb, cpuMs, maxRequests } = policy;
      // The process may send any text. A text that cannot be redacted must not fail more than its own run.
      const redact = (text: string) => redactedOr(redacted, () => policy.egress.redactor.text(text));
      const handlerFetch = createHandlerFetch(broker, policy, blameRulesOf(bundle));
      const handlerInput = toHandlerInput(input, () => plugin?.manifest.input_schema ?? {});
      const task: SandboxTask = {
        bundleId: bundle.id,
        projectId: caller.projectId,
        keyId: caller.keyId,
        isolation: bundle.isolation === 'sandbox' ? ('sandbox' as const) : ('process' as const),
        bundleFolder: bundle.folder,
        bundleStamp: bundle.stamp,
        handlerPath,
        ...(plugin === null ? {} : { pluginId: plugin.id }),
        input: handlerInput,
        ...pieceTaskOf(run, handlerInput, question),
        limits: { timeoutMs, memoryMb, cpuMs, maxRequests, maxOutputBytes },
        onFetch: handlerFetch.fetch,
        onLog: (message: string, fields?: Record<string, unknown>) => logForPlugin(logger, run, { message, fields }),
        onProgress: (fraction: number, message: string | undefined) => {
          const progress = { fraction, message: message && redact(message) };
          caller.onProgress?.(progress);
          observer.progressed(run, progress);
        },
        timings: run.trace,
        redact,
      };
      const outcome = await sandbox.run(task, signal);
      if (outcome.kind === 'returned_large') {
        const read = await reader.readOutput(outcome.json, { owner: caller, maxOutputBytes, signal });
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

/**
 * Returns the input as a handler receives it. JavaScript would round an integer beyond 2^53, and the rounded number may be the id of another
 * object, so it becomes text. Where the schema says `number`, it stays a double, because the handler calculates with it.
 */
export function toHandlerInput<T>(input: T, schema: () => JsonSchema = () => ({})): T {
  if (convertBigInts(input, String) === input) return input;
  return convert(input, schema()) as T; // an object before, too
}

function convert(value: unknown, schema: unknown): unknown {
  const { type, properties, items } = isObject(schema) ? schema : {};
  if (typeof value === 'bigint') return [type].flat().includes('number') ? Number(value) : String(value);
  if (Array.isArray(value)) return value.map((item) => convert(item, items));
  if (!isObject(value)) return value;
  const members = isObject(properties) ? properties : {};
  const schemaOf = (name: string) => (Object.hasOwn(members, name) ? members[name] : undefined);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, convert(member, schemaOf(name))]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
