import type { Injection } from '@quartermaster/plugin-kit';
import type { Rates } from '../../platform/admission/rates.ts';
import type { Audit } from '../../platform/audit/audit.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { Catalogue, CompiledPlugin } from '../catalogue/catalogue.ts';
import { readCredentials } from '../catalogue/credential-bounds.ts';
import { getBundle, getPlugin, valueInvalid } from '../catalogue/problems.ts';
import type { Broker } from '../egress/broker.ts';
import { RedactionRefused, redactedOr } from '../egress/redact/redaction-budget.ts';
import { redacted } from '../egress/redact/redactor.ts';
import {
  type Call,
  type Executor,
  isPluginRepeatable,
  isRepeatable,
  mayRepeatCalls,
  type PreparedRun,
} from './executor.ts';
import { type FileInputs, type InputFiles, noFiles } from './file-inputs/file-inputs.ts';
import { finishRun, redactionFailed } from './finish-run.ts';
import { isShallow, maxOutputDepth } from './json-bounds.ts';
import { createOptionsLister, type WantedOptions } from './options/list-options.ts';
import type { Execution } from './outcome.ts';
import { replaceAt } from './output-parts/find-parts.ts';
import { readFoundOptions } from './pieces/piece-call.ts';
import { createPreparedCalls } from './prepared-calls.ts';
import { handlersRefused, noRoomForRun, tooManyRuns, valueTooDeep, verificationImpossible } from './problems.ts';
import { recorded } from './record-run.ts';
import { noObserver, type RawOutcome, type Run, type RunCaller, type RunObserver, unknownCaller } from './run.ts';
import { createPluginRunner } from './run-plugin.ts';
import { createRunPolicy, defaultLimits, type ExecutionLimits } from './run-policy.ts';
import { createRunRecords } from './run-records.ts';
import { createRunTimings, milliseconds } from './run-timings.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { createLargeAnswerReceivers } from './unused-answers/large-answers.ts';

export interface ExecutorDeps extends Pick<CommonDeps, 'admission' | 'logger' | 'metrics' | 'newId'> {
  /** Returns the catalogue in force. Each run calls it, so the catalogue can be replaced. */
  readonly catalogue: () => Pick<Catalogue, 'findBundle' | 'loading' | 'bundles'>;
  readonly broker: Broker;
  readonly sandbox: Sandbox;
  readonly limits?: Partial<ExecutionLimits>;
  /** The version of the service, sent to MCP servers. */
  readonly version?: string;
  /** Without it, runs do not check the disk space. */
  readonly space?: Pick<DiskSpace, 'isLow'>;
  /** Without it, destructive runs are not recorded. */
  readonly audit?: Audit;
  /** Without it, there are no rate limits. */
  readonly rates?: Pick<Rates, 'take'>;
  /** Without it, no part of an output is stored. */
  readonly artifacts?: Pick<ArtifactStore, 'keep' | 'receive'>;
  /** Without it, an input names no files. */
  readonly fileInputs?: FileInputs;
  /** Default: {@link noObserver}. */
  readonly observer?: RunObserver;
}

interface Subject extends Pick<Run, 'bundle' | 'plugin' | 'signal' | 'caller'> {
  readonly call: Pick<Call, 'credentials' | 'refreshToken' | 'renew'>;
  /** The injections that the request adds to those of the bundle. */
  readonly own: readonly Injection[] | undefined;
}

/**
 * Executes a run in this order: check the request, the credentials and the input, run the plugin, check the output. Source:
 * docs/contract.md "Bundles and plugins".
 */
export function createExecutor(deps: ExecutorDeps): Executor {
  const { artifacts, logger, observer = noObserver } = deps;
  const limits = { ...defaultLimits, ...deps.limits };
  const openLargeAnswers = createLargeAnswerReceivers(artifacts, deps.admission);
  const calls = createPreparedCalls();
  const { runDeclarative, runHandler, runTool } = createPluginRunner({ ...deps, limits, observer, calls });
  const records = createRunRecords(logger, deps.metrics);
  // A key takes a quarter of all places while no other key has a run.
  const places = deps.admission.places('runs', { places: 4 * limits.maxRunsOfKey, refuse: tooManyRuns });
  const readFiles = createCountingReader(deps);

  /** Checks the credentials of a call. */
  function begin({ bundle, plugin, own, call, signal, caller }: Subject): Omit<Run, 'input'> {
    const trace = createRunTimings();
    const credentials = readCredentials(bundle, call.credentials, plugin ?? bundle);
    const largeAnswers = openLargeAnswers(caller);
    const policy = createRunPolicy(bundle, credentials, {
      limits,
      own,
      trace,
      refreshToken: call.refreshToken,
      renew: call.renew,
      receiveLarge: largeAnswers.receive,
      // A check concerns the credentials as they are now.
      wantsFreshToken: plugin === null,
      isRepeatable: plugin === null ? undefined : mayRepeatCalls(plugin),
    });
    const { runId = deps.newId('run'), createdAt = Date.now() } = caller.resumes ?? {};
    const isolation = plugin === null || plugin.handlerPath === null ? 'none' : bundle.isolation;
    return { runId, createdAt, bundle, plugin, isolation, caller, policy, signal, trace, largeAnswers };
  }

  function prepare(call: Call, signal: AbortSignal, caller: RunCaller = unknownCaller): PreparedRun {
    // An accepted run continues although the disk is nearly full: its client cannot send it again.
    if (caller.resumes === undefined && deps.space?.isLow() === true) throw noRoomForRun();
    const plugin = getPlugin(deps.catalogue(), call.bundle_id, call.plugin_id);
    const { bundle, handlerPath } = plugin;
    if (handlerPath !== null && bundle.refusal !== undefined) throw handlersRefused(bundle.id, bundle.refusal);
    const begun = begin({ bundle, plugin, own: plugin.manifest.request?.inject, call, signal, caller });
    const run: Run = { ...begun, input: readInput(plugin, call.input_params, begun) };
    const start = async (filled: Run) => {
      if (handlerPath !== null) return await runHandler(handlerPath, filled);
      const { mcp } = plugin.manifest;
      return mcp === undefined ? await runDeclarative(calls.ofPlugin(plugin), filled) : await runTool(mcp, filled);
    };
    run.trace.validatedAt = performance.now();
    return {
      run,
      isRepeatable: isPluginRepeatable(plugin),
      start: (files) => conclude(run, () => start(withFiles(run, files))),
    };
  }

  /** Executes a run until it has an outcome. An exception on the way becomes an outcome too. */
  async function conclude(run: Run, start: () => Promise<RawOutcome>): Promise<Execution> {
    const { trace } = run;
    observer.begun(run);
    const raw = await start().catch((error: unknown) => outcomeOfError(error, run, logger));
    trace.returnedAt = performance.now();
    const outcome = await finishRun(raw, run, artifacts).finally(() => run.largeAnswers.end());
    trace.endedAt = performance.now();
    const execution: Execution = {
      runId: run.runId,
      durationMs: milliseconds(trace.endedAt - trace.askedAt),
      outcome,
      isRepeatable: isRepeatable(outcome, run.plugin),
    };
    records.record(run.bundle.id, labelOf(run), execution);
    observer.ended(run, execution);
    return execution;
  }

  async function admit(caller: RunCaller, work: () => Promise<Execution>): Promise<Execution> {
    const leave = places.enter(caller);
    return await work().finally(leave);
  }

  return {
    prepare,
    readFiles,
    execute: (call, signal, caller = unknownCaller) =>
      admit(caller, async () => await readFiles(call, caller, recorded(prepare(call, signal, caller), deps.audit))),

    async verifyCredentials(request, signal, caller = unknownCaller) {
      const bundle = getBundle(deps.catalogue(), request.bundle_id);
      const call = calls.ofVerification(bundle);
      if (call === null && bundle.manifest.credentials_schema !== undefined) throw verificationImpossible(bundle.id);
      const own = bundle.manifest.verify?.request.inject;
      const run: Run = { ...begin({ bundle, plugin: null, own, call: request, signal, caller }), input: {} };
      run.trace.validatedAt = performance.now();
      // A bundle without a verification call takes no credentials that could be wrong.
      const start = async (): Promise<RawOutcome> =>
        call === null ? { kind: 'returned', output: null } : await runDeclarative(call, run);
      return await admit(caller, () => conclude(run, start));
    },
    listOptions: createOptionsLister({ ...deps, begin, admit, conclude, findOptions: finderOf(runHandler) }),
  };
}

function labelOf({ plugin, caller }: Run): string {
  return plugin?.id ?? (caller.origin === 'options' ? 'options' : 'verify');
}

/** Only plugins of pieces have such inputs, and each of them has a handler. */
function finderOf(runHandler: ReturnType<typeof createPluginRunner>['runHandler']) {
  return async (run: Run, { plugin, ...question }: WantedOptions): Promise<RawOutcome> =>
    readFoundOptions(await runHandler(plugin.handlerPath ?? '', { ...run, plugin }, question));
}

function createCountingReader({ fileInputs, rates }: ExecutorDeps): FileInputs['read'] {
  const read: FileInputs['read'] = fileInputs?.read ?? ((_request, _caller, work) => work(noFiles));
  return async (request, caller, work) => {
    const tool = `${request.bundle_id}/${request.plugin_id}`;
    if (caller.resumes === undefined) await rates?.take(caller, tool, caller.onCounted);
    return await read(request, caller, work);
  };
}

function readInput(plugin: CompiledPlugin, params: Run['input'], { policy }: Pick<Run, 'policy'>): Run['input'] {
  if (!isShallow(params, maxOutputDepth)) throw valueTooDeep('input_params', maxOutputDepth);
  const { input, violations } = plugin.readInput(params);
  // The messages may quote values, and a caller may have put a credential into an input.
  if (violations.length > 0) throw valueInvalid('input_params', policy.egress.redactor.deep(violations));
  return input;
}

/** The run whose input has files instead of the references to them. Its records keep the references. */
function withFiles(run: Run, files: InputFiles): Run {
  if (files.size === 0) return run;
  return { ...run, input: replaceAt(run.input, files) as Run['input'] }; // an object before, too
}

function outcomeOfError(error: unknown, { signal, policy, runId, bundle }: Run, logger: Logger): RawOutcome {
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
