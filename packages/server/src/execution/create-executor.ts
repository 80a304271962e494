import type { ExecuteRequest } from '@quartermaster/contract';
import type { Injection } from '@quartermaster/plugin-kit';
import { storedRefreshTokenOf } from '../access/credential-profiles/resolve-credentials.ts';
import type { Catalogue, CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import { checkCredentialBounds, declaredCredentials } from '../catalogue/credential-bounds.ts';
import { bundleLoading, bundleNotFound, pluginNotFound, valueInvalid } from '../catalogue/problems.ts';
import type { Broker } from '../egress/broker.ts';
import { RedactionRefused, scrubbedOr } from '../egress/redact/redaction-budget.ts';
import { type Redactor, redacted } from '../egress/redact/redactor.ts';
import type { DiskSpace } from '../kernel/disk/disk-space.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/log/logger.ts';
import type { Registry } from '../kernel/metrics.ts';
import {
  defaultLimits,
  type ExecutionLimits,
  type Executor,
  isPluginRepeatable,
  isRepeatable,
  type PreparedRun,
} from './executor.ts';
import { hasFewParts, isShallow, maxOutputParts, tooManyParts } from './json-bounds.ts';
import type { Execution, Outcome } from './outcome.ts';
import { createPreparedCalls } from './prepared-calls.ts';
import { handlersRefused, noRoomForRun, valueTooDeep, verificationImpossible } from './problems.ts';
import { createRunAdmission } from './run-admission.ts';
import { noObserver, type RunCaller, type RunObserver } from './run-observer.ts';
import { createPluginRunner, type RawOutcome, type Run } from './run-plugin.ts';
import { createRunPolicy } from './run-policy.ts';
import { createRunRecords } from './run-records.ts';
import { createRunTimings, milliseconds } from './run-timings.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

export interface ExecutorDeps {
  /** The catalogue in force; asked for at each run, so that it can be replaced by a newer one. */
  readonly catalogue: () => Pick<Catalogue, 'findBundle' | 'loading'>;
  readonly broker: Broker;
  readonly sandbox: Sandbox;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly limits?: Partial<ExecutionLimits>;
  /** Of the service; MCP servers are told. */
  readonly version?: string;
  /** Absent: runs write nothing to the disk. */
  readonly space?: Pick<DiskSpace, 'isLow'>;
  /** Absent: nobody keeps account. */
  readonly observer?: RunObserver;
}

interface Beginning {
  readonly bundle: CompiledBundle;
  readonly credentials: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly caller: RunCaller;
  /** What the request adds to the injections of the bundle. */
  readonly own: readonly Injection[] | undefined;
  /** Whether credentials work now, not when they were used last. */
  readonly wantsFreshToken?: boolean;
  readonly isRepeatable?: boolean;
}

type Begun = Omit<Run, 'pluginId' | 'isolation' | 'input'>;

const nobody: RunCaller = { projectId: '-', origin: 'execute' };

/** Nesting of inputs and outputs beyond this is refused before anything walks them. */
const maxDepth = 64;

/** The order of a run: request, credentials, input, the run itself, its output. Source: docs/contract.md "Bundles and plugins". */
export function createExecutor(deps: ExecutorDeps): Executor {
  const limits = { ...defaultLimits, ...deps.limits };
  const means = { newId: deps.newId, limits };
  const observer = deps.observer ?? noObserver;
  const calls = createPreparedCalls();
  const verification = calls.ofVerification;
  const { runDeclarative, runHandler, runTool } = createPluginRunner({ ...deps, limits, observer, verification });
  const admission = createRunAdmission(limits.maxRunsOfKey);
  const conclude = createConclusion({ ...deps, observer });

  function prepare(request: ExecuteRequest, signal: AbortSignal, caller: RunCaller = nobody): PreparedRun {
    // A run that was accepted goes on: its client cannot send it again.
    if (caller.resumes === undefined && deps.space?.isLow() === true) throw noRoomForRun();
    const bundle = getBundle(deps.catalogue(), request.bundle_id);
    const plugin = bundle.plugins.get(request.plugin_id);
    if (plugin === undefined) throw pluginNotFound(request.bundle_id, request.plugin_id);
    if (plugin.handlerPath !== null && bundle.refusal !== undefined) throw handlersRefused(bundle.id, bundle.refusal);
    const { credentials } = request;
    const own = plugin.manifest.request?.inject;
    const isRepeatable = isPluginRepeatable(plugin);
    const begun = begin(means, { bundle, credentials, signal, caller, own, isRepeatable });
    const input = readInput(plugin, request.input_params, begun);
    const { handlerPath } = plugin;
    const isolation = handlerPath === null ? 'none' : bundle.isolation;
    const run: Run = { ...begun, pluginId: plugin.id, isolation, input };
    const { mcp } = plugin.manifest;
    const start = async () => {
      if (handlerPath !== null) return await runHandler(handlerPath, run);
      return mcp === undefined ? await runDeclarative(calls.ofPlugin(plugin), run) : await runTool(mcp, run);
    };
    run.trace.validatedAt = performance.now();
    return { run, isRepeatable, start: () => conclude(run, start, plugin) };
  }

  return {
    prepare,

    async execute(request, signal, caller) {
      return await admission.admit(caller?.keyId, () => prepare(request, signal, caller).start());
    },

    async verifyCredentials(request, signal, caller = nobody) {
      const bundle = getBundle(deps.catalogue(), request.bundle_id);
      const call = calls.ofVerification(bundle);
      if (call === null && bundle.manifest.credentials_schema !== undefined) throw verificationImpossible(bundle.id);
      const own = bundle.manifest.verify?.request.inject;
      const { credentials } = request;
      const begun = begin(means, { bundle, credentials, signal, caller, own, wantsFreshToken: true });
      const run: Run = { ...begun, pluginId: null, isolation: 'none', input: {} };
      run.trace.validatedAt = performance.now();
      // Without a call there are no credentials that could be wrong.
      const start = async (): Promise<RawOutcome> =>
        call === null ? { kind: 'returned', output: null } : await runDeclarative(call, run);
      return await admission.admit(caller.keyId, () => conclude(run, start));
    },
  };
}

function getBundle(catalogue: Pick<Catalogue, 'findBundle' | 'loading'>, bundleId: string): CompiledBundle {
  const bundle = catalogue.findBundle(bundleId);
  if (bundle !== undefined) return bundle;
  throw catalogue.loading.includes(bundleId) ? bundleLoading(bundleId) : bundleNotFound(bundleId);
}

interface Means {
  readonly newId: NewId;
  readonly limits: ExecutionLimits;
}

function begin(
  { newId, limits }: Means,
  { bundle, credentials: given, signal, caller, own, ...wish }: Beginning,
): Begun {
  const trace = createRunTimings();
  checkCredentialBounds(given);
  const credentials = declaredCredentials(bundle, given);
  const violations = bundle.checkCredentials(credentials);
  if (violations.length > 0) throw valueInvalid('credentials', violations);
  const storedRefreshToken = storedRefreshTokenOf(given);
  const policy = createRunPolicy(bundle, credentials, { limits, own, trace, storedRefreshToken, ...wish });
  const { runId = newId('run'), createdAt = Date.now() } = caller.resumes ?? {};
  return { bundle, signal, caller, policy, runId, createdAt, trace };
}

function readInput(plugin: CompiledPlugin, params: Record<string, unknown>, run: Begun): Record<string, unknown> {
  if (!isShallow(params, maxDepth)) throw valueTooDeep('input_params', maxDepth);
  const { input, violations } = plugin.readInput(params);
  // The messages may quote what was found, and the caller may have put a credential there.
  if (violations.length > 0) throw valueInvalid('input_params', run.policy.egress.redactor.deep(violations));
  return input;
}

type ConclusionDeps = Pick<ExecutorDeps, 'logger' | 'metrics'> & { readonly observer: RunObserver };
type Conclude = (run: Run, start: () => Promise<RawOutcome>, plugin?: CompiledPlugin) => Promise<Execution>;

/** Runs to the end whatever happens: what is thrown on the way is an outcome too. */
function createConclusion({ logger, metrics, observer }: ConclusionDeps): Conclude {
  const records = createRunRecords(logger, metrics);

  function outcomeOf(error: unknown, { signal, policy, runId, bundle }: Run): RawOutcome {
    if (signal.aborted) return { kind: 'cancelled' };
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (error instanceof RedactionRefused) return redactionFailed;
    const words = scrubbedOr(redacted, () => policy.egress.redactor.text(text));
    logger.error({ run_id: runId, bundle: bundle.id, error: words }, 'run failed');
    return { kind: 'failed', message: 'the service could not run it; the run id finds the reason in the log' };
  }

  return async (run, start, plugin) => {
    const { trace } = run;
    observer.begun(run);
    const raw = await start().catch((error: unknown) => outcomeOf(error, run));
    trace.returnedAt = performance.now();
    const outcome = finishSafely(raw, run, plugin);
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

/** No part of a result is passed on when its secrets cannot be redacted. */
function finishSafely(raw: RawOutcome, run: Run, plugin: CompiledPlugin | undefined): Outcome {
  try {
    return finish(raw, run.policy.egress.redactor, plugin);
  } catch (error) {
    if (error instanceof RedactionRefused) return redactionFailed;
    throw error;
  }
}

const redactionFailed = {
  kind: 'failed',
  message: 'its answer cannot be searched for the credentials within bounds, so nothing of it is passed on',
} as const;

/** The last guard: bounds the output, takes the secrets out of everything, checks the output against its schema. */
function finish(raw: RawOutcome, redactor: Redactor, plugin: CompiledPlugin | undefined): Outcome {
  if (raw.kind !== 'returned') return scrubWords(raw, redactor);
  if (!isShallow(raw.output, maxDepth)) {
    return { kind: 'failed', message: `the output is nested deeper than ${maxDepth} levels` };
  }
  if (!hasFewParts(raw.output, maxOutputParts)) return { kind: 'failed', message: tooManyParts };
  const output = redactor.deep(raw.output);
  return { kind: 'succeeded', output, violations: redactor.deep(plugin?.checkOutput(output) ?? []) };
}

/** Only what others have worded: a secret that equals one of our own words must not change the kind. */
function scrubWords<T extends RawOutcome>(outcome: T, redactor: Redactor): T {
  const message = 'message' in outcome ? { message: redactor.text(outcome.message) } : {};
  const excerpt = 'excerpt' in outcome && outcome.excerpt !== null ? { excerpt: redactor.text(outcome.excerpt) } : {};
  return { ...outcome, ...message, ...excerpt };
}
