import type { PluginCall } from '@quartermaster/contract';
import type { Injection } from '@quartermaster/plugin-kit';
import { storedRefreshTokenOf } from '../../access/credential-profiles/resolve-credentials.ts';
import type { Admission } from '../../platform/admission/admission.ts';
import type { Owner } from '../../platform/admission/owner.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import type { NewId } from '../../platform/identifier.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { Registry } from '../../platform/metrics.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { Catalogue, CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import { readCredentials } from '../catalogue/credential-bounds.ts';
import { bundleLoading, bundleNotFound, pluginNotFound, valueInvalid } from '../catalogue/problems.ts';
import type { Broker } from '../egress/broker.ts';
import { RedactionRefused, redactedOr } from '../egress/redact/redaction-budget.ts';
import { redacted } from '../egress/redact/redactor.ts';
import {
  defaultLimits,
  type ExecutionLimits,
  type Executor,
  isPluginRepeatable,
  isRepeatable,
  type PreparedRun,
} from './executor.ts';
import { type FileInputs, type InputFiles, noFiles } from './file-inputs/file-inputs.ts';
import { createFinish, redactionFailed } from './finish-run.ts';
import { isShallow, maxOutputDepth } from './json-bounds.ts';
import type { Execution } from './outcome.ts';
import { replaceAt } from './output-parts/find-parts.ts';
import { createPreparedCalls } from './prepared-calls.ts';
import { handlersRefused, noRoomForRun, valueTooDeep, verificationImpossible } from './problems.ts';
import { createRunAdmission } from './run-admission.ts';
import { noObserver, type RunCaller, type RunObserver } from './run-observer.ts';
import { createPluginRunner, type RawOutcome, type Run } from './run-plugin.ts';
import { createRunPolicy } from './run-policy.ts';
import { createRunRecords } from './run-records.ts';
import { createRunTimings, milliseconds } from './run-timings.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { createLargeAnswerReceivers, type LargeAnswers } from './unused-answers/large-answers.ts';

export interface ExecutorDeps {
  /** Returns the catalogue in force. Each run calls it, so the catalogue can be replaced. */
  readonly catalogue: () => Pick<Catalogue, 'findBundle' | 'loading'>;
  readonly broker: Broker;
  readonly sandbox: Sandbox;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly limits?: Partial<ExecutionLimits>;
  /** The version of the service, sent to MCP servers. */
  readonly version?: string;
  /** Without it, runs do not check the disk space. */
  readonly space?: Pick<DiskSpace, 'isLow'>;
  readonly admission: Admission;
  /** Without it, no part of an output is stored. */
  readonly artifacts?: Pick<ArtifactStore, 'keep' | 'receive'>;
  /** Without it, an input names no files. */
  readonly fileInputs?: FileInputs;
  /** Default: {@link noObserver}. */
  readonly observer?: RunObserver;
}

interface RunStart {
  readonly bundle: CompiledBundle;
  readonly credentials: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly caller: RunCaller;
  /** The injections that the request adds to those of the bundle. */
  readonly own: readonly Injection[] | undefined;
  /** Requests a new access token, so that the check concerns the credentials as they are now. */
  readonly wantsFreshToken?: boolean;
  readonly isRepeatable?: boolean;
}

type Begun = Omit<Run, 'pluginId' | 'isolation' | 'input'>;

function ownerOf({ projectId, keyId }: RunCaller = unknownCaller): Owner {
  return { projectId, keyId: keyId ?? null };
}

const unknownCaller: RunCaller = { projectId: '-', origin: 'execute' };

/**
 * Executes a run in this order: check the request, the credentials and the input, run the plugin, check the output. Source:
 * docs/contract.md "Bundles and plugins".
 */
export function createExecutor(deps: ExecutorDeps): Executor {
  const limits = { ...defaultLimits, ...deps.limits };
  const context = {
    newId: deps.newId,
    limits,
    openLargeAnswers: createLargeAnswerReceivers(deps.artifacts, deps.admission),
  };
  const observer = deps.observer ?? noObserver;
  const calls = createPreparedCalls();
  const verification = calls.ofVerification;
  const { runDeclarative, runHandler, runTool } = createPluginRunner({
    ...{ ...deps, limits, observer, verification },
    errorRules: calls.errorsOf,
  });
  const admission = createRunAdmission(limits.maxRunsOfKey, deps.admission);
  const conclude = createConclusion({ ...deps, observer });
  const readFiles = deps.fileInputs?.read ?? ((_request, _caller, work) => work(noFiles));

  function prepare(request: PluginCall, signal: AbortSignal, caller: RunCaller = unknownCaller): PreparedRun {
    // An accepted run continues although the disk is nearly full: its client cannot send it again.
    if (caller.resumes === undefined && deps.space?.isLow() === true) throw noRoomForRun();
    const bundle = getBundle(deps.catalogue(), request.bundle_id);
    const plugin = bundle.plugins.get(request.plugin_id);
    if (plugin === undefined) throw pluginNotFound(request.bundle_id, request.plugin_id);
    if (plugin.handlerPath !== null && bundle.refusal !== undefined) throw handlersRefused(bundle.id, bundle.refusal);
    const { credentials } = request;
    const own = plugin.manifest.request?.inject;
    const isRepeatable = isPluginRepeatable(plugin);
    const begun = begin(context, { bundle, credentials, signal, caller, own, isRepeatable });
    const input = readInput(plugin, request.input_params, begun);
    const { handlerPath } = plugin;
    const isolation = handlerPath === null ? 'none' : bundle.isolation;
    const inputSchema = () => plugin.manifest.input_schema;
    const run: Run = { ...begun, pluginId: plugin.id, isolation, input, inputSchema };
    const { mcp } = plugin.manifest;
    const start = async (filled: Run) => {
      if (handlerPath !== null) return await runHandler(handlerPath, filled);
      return mcp === undefined ? await runDeclarative(calls.ofPlugin(plugin), filled) : await runTool(mcp, filled);
    };
    run.trace.validatedAt = performance.now();
    return { run, isRepeatable, start: (files) => conclude(run, () => start(withFiles(run, files)), plugin) };
  }

  return {
    prepare,
    readFiles,

    async execute(request, signal, caller) {
      return await admission.admit(ownerOf(caller), () => {
        const { start } = prepare(request, signal, caller);
        return readFiles(request, caller ?? unknownCaller, start);
      });
    },

    async verifyCredentials(request, signal, caller = unknownCaller) {
      const bundle = getBundle(deps.catalogue(), request.bundle_id);
      const call = calls.ofVerification(bundle);
      if (call === null && bundle.manifest.credentials_schema !== undefined) throw verificationImpossible(bundle.id);
      const own = bundle.manifest.verify?.request.inject;
      const { credentials } = request;
      const begun = begin(context, { bundle, credentials, signal, caller, own, wantsFreshToken: true });
      const run: Run = { ...begun, pluginId: null, isolation: 'none', input: {} };
      run.trace.validatedAt = performance.now();
      // A bundle without a verification call takes no credentials that could be wrong.
      const start = async (): Promise<RawOutcome> =>
        call === null ? { kind: 'returned', output: null } : await runDeclarative(call, run);
      return await admission.admit(ownerOf(caller), () => conclude(run, start));
    },
  };
}

function getBundle(catalogue: Pick<Catalogue, 'findBundle' | 'loading'>, bundleId: string): CompiledBundle {
  const bundle = catalogue.findBundle(bundleId);
  if (bundle !== undefined) return bundle;
  throw catalogue.loading.includes(bundleId) ? bundleLoading(bundleId) : bundleNotFound(bundleId);
}

interface ExecutionContext {
  readonly newId: NewId;
  readonly limits: ExecutionLimits;
  readonly openLargeAnswers: (owner: Owner) => LargeAnswers;
}

function begin(
  { newId, limits, openLargeAnswers }: ExecutionContext,
  { bundle, credentials: received, signal, caller, own, ...options }: RunStart,
): Begun {
  const trace = createRunTimings();
  const credentials = readCredentials(bundle, received);
  const storedRefreshToken = storedRefreshTokenOf(received);
  const largeAnswers = openLargeAnswers(ownerOf(caller));
  const { receive: receiveLarge } = largeAnswers;
  const policy = createRunPolicy(bundle, credentials, {
    ...{ limits, own, trace, storedRefreshToken, receiveLarge },
    ...options,
  });
  const { runId = newId('run'), createdAt = Date.now() } = caller.resumes ?? {};
  return { bundle, signal, caller, policy, runId, createdAt, trace, largeAnswers };
}

function readInput(plugin: CompiledPlugin, params: Record<string, unknown>, run: Begun): Record<string, unknown> {
  if (!isShallow(params, maxOutputDepth)) throw valueTooDeep('input_params', maxOutputDepth);
  const { input, violations } = plugin.readInput(params);
  // The messages may quote values, and a caller may have put a credential into an input.
  if (violations.length > 0) throw valueInvalid('input_params', run.policy.egress.redactor.deep(violations));
  return input;
}

/** The run whose input has files instead of the references to them. Its records keep the references. */
function withFiles(run: Run, files: InputFiles): Run {
  if (files.size === 0) return run;
  return { ...run, input: replaceAt(run.input, files) as Run['input'] }; // an object before, too
}

type ConclusionDeps = Pick<ExecutorDeps, 'logger' | 'metrics' | 'artifacts'> & { readonly observer: RunObserver };
type Conclude = (run: Run, start: () => Promise<RawOutcome>, plugin?: CompiledPlugin) => Promise<Execution>;

/** Executes a run until it has an outcome. An exception on the way becomes an outcome too. */
function createConclusion({ logger, metrics, observer, artifacts }: ConclusionDeps): Conclude {
  const finish = createFinish(artifacts);
  const records = createRunRecords(logger, metrics);

  function outcomeOf(error: unknown, { signal, policy, runId, bundle }: Run): RawOutcome {
    if (signal.aborted) return { kind: 'cancelled' };
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (error instanceof RedactionRefused) return redactionFailed;
    const words = redactedOr(redacted, () => policy.egress.redactor.text(text));
    logger.error({ run_id: runId, bundle: bundle.id, error: words }, 'run failed');
    return {
      kind: 'failed',
      message: 'The service failed unexpectedly. Search its log for the run id to find the reason.',
    };
  }

  return async (run, start, plugin) => {
    const { trace } = run;
    observer.begun(run);
    const raw = await start().catch((error: unknown) => outcomeOf(error, run));
    trace.returnedAt = performance.now();
    const outcome = await finish(raw, run, plugin).finally(() => run.largeAnswers.end());
    trace.endedAt = performance.now();
    const execution: Execution = {
      runId: run.runId,
      durationMs: milliseconds(trace.endedAt - trace.askedAt),
      outcome,
      isRepeatable: isRepeatable(outcome, plugin),
    };
    records.record(run.bundle.id, plugin?.id ?? 'verify', execution);
    observer.ended(run, execution);
    return execution;
  };
}
