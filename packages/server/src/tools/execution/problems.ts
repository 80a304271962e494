import { Problem } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { anyValue, fieldInvalid, missing, validationFailed } from '../../platform/validation/validation-error.ts';
import type { KeptAnswer, Outcome } from './outcome.ts';
import { upstreamProblem } from './upstream-answers/problems.ts';

/** This machine cannot isolate the bundle's code as the operator requires. */
export function handlersRefused(bundleId: string, reason: string): Problem {
  return new Problem('SERVICE_UNAVAILABLE', `The handlers of bundle ${JSON.stringify(bundleId)} cannot run: ${reason}`);
}

type PluginId = 'bundle_id' | 'plugin_id';

/** A run without a tool name lacks ids of the plugin. */
export function idsMissing([first, ...others]: readonly [PluginId, ...PluginId[]]): Problem {
  const toDetail = (name: PluginId) => ({ path: `body/${name}`, found: missing, expected: anyValue });
  return validationFailed([toDetail(first), ...others.map(toDetail)]);
}

/** @param part a member of the body */
export function valueTooDeep(part: string, maxDepth: number): Problem {
  return new Problem(
    'INVALID_REQUEST',
    `body/${part} must be nested at most ${maxDepth} levels deep; received deeper nesting.`,
  );
}

/** The bundle declares credentials but no call that verifies them. */
export function verificationImpossible(bundleId: string): Problem {
  return new Problem(
    'REQUEST_VALIDATION_ERROR',
    `body/bundle_id must be a bundle that declares how to verify credentials; ${JSON.stringify(bundleId)} does not. Run one of its plugins instead.`,
  );
}

/** @param names the inputs that have choices */
export function choicesMissing(property: string, names: readonly string[]): Problem {
  const allowed = names.length === 0 ? 'none of this plugin' : names.join(', ');
  return fieldInvalid(
    'body/property',
    quoteText(property, 60),
    `an input whose values the third party knows: ${allowed}`,
  );
}

const holders = { key: 'this key', project: 'this project, or of all callers without a key,', all: 'all projects' };

/** @param most concurrent runs that the holder may have at present, waiting or running */
export function tooManyRuns(holder: keyof typeof holders, most: number): Problem {
  return new Problem(
    'TOO_MANY_REQUESTS',
    `The runs of ${holders[holder]} that run or wait reach the maximum (${most}). Retry when one has ended.`,
    {
      retryAfter: 1,
    },
  );
}

/** The disk space that remains is reserved: the record and the response of the run would use it. */
export function noRoomForRun(): Problem {
  return new Problem(
    'INSUFFICIENT_STORAGE',
    'The disk is nearly full, so the run was not started. Free disk space, then retry.',
    {
      retryAfter: 60,
    },
  );
}

/** The error for a failed run. Source: docs/contract.md "Bundles and plugins". */
export function outcomeProblem(outcome: FailedOutcome, runId: string): Problem {
  const problem = problemOf(outcome, runId);
  const answer = answerOf(outcome);
  if (answer === undefined) return problem;
  const [detail = {}] = problem.details ?? [];
  const artifact = answer.artifact === null ? {} : { artifact: answer.artifact };
  const message = `${problem.message.replace(/\.$/, '')}. ${describeAnswer(answer)}`;
  return new Problem(problem.code, message, { headers: problem.headers, details: [{ ...detail, ...artifact }] });
}

type FailedOutcome = Exclude<Outcome, { kind: 'succeeded' }>;

function answerOf(outcome: FailedOutcome): KeptAnswer | undefined {
  return 'answer' in outcome ? outcome.answer : undefined;
}

/** Tells what became of an answer that the run could not use. Source: ADR 0097. */
function describeAnswer({ artifact, isComplete, isEarlier }: KeptAnswer): string {
  const request = isEarlier === true ? ' an earlier request of this run' : '';
  if (artifact === null) {
    return `The third party had answered${request}, but its answer could not be stored: the service stores no artifacts, a limit on the files or artifacts of the project is reached, or the disk could not be written. A further run asks the third party again.`;
  }
  const { artifact_id: id, media_type: type, bytes } = artifact;
  const what = isComplete ? 'Its answer' : `The beginning of its answer`;
  const advice = isEarlier === true ? 'A further run asks the third party again.' : 'Do not run the plugin again.';
  return `The third party had answered${request}. ${what} is stored as ${nameOf(id)} (${type}, ${bytes} bytes). ${advice}`;
}

/** @param tool `bundle_id/plugin_id` */
export function effectsNotPermitted(tool: string, effects: string): Problem {
  return new Problem(
    'PERMISSION_DENIED',
    `The API key lacks the scope "plugins". Its scope "plugins:read" runs only plugins whose effects are "read"; those of ${quoteText(tool, 140)} are "${effects}". Use a key with the scope "plugins".`,
  );
}

/** A caller without a key has no id, but the signed URL. */
function nameOf(artifactId: string): string {
  return artifactId === '' ? 'an artifact' : `artifact ${artifactId}`;
}

function problemOf(outcome: FailedOutcome, runId: string): Problem {
  const run = { run_id: runId };
  switch (outcome.kind) {
    case 'input_rejected':
      return new Problem('REQUEST_VALIDATION_ERROR', `The plugin rejected its input: ${outcome.message}`, {
        details: [{ ...run, path: 'body/input_params', message: outcome.message }],
      });
    case 'upstream_failed':
    case 'upstream_rejected':
    case 'upstream_rate_limited':
    case 'credentials_rejected':
      return upstreamProblem(outcome, runId);
    case 'egress_refused':
      return new Problem('PROVIDER_ERROR', `The outbound request is not allowed: ${outcome.message}.`, {
        details: [{ ...run, upstream_status: null, upstream_code: null, message: outcome.message, excerpt: null }],
      });
    case 'timed_out':
      return new Problem('PLUGIN_TIMEOUT', describeTimeLimit(outcome), { details: [run] });
    case 'failed':
    case 'crashed':
      return pluginFailed(outcome.kind, outcome.message, runId);
    case 'out_of_memory':
      return pluginFailed(outcome.kind, `it used more than ${outcome.limitMb} MiB of memory`, runId);
    case 'queue_full':
      return new Problem('TOO_MANY_REQUESTS', 'Too many plugins are running. Retry after the time in Retry-After.', {
        retryAfter: outcome.retryAfterSeconds,
      });
    case 'cancelled':
      return new Problem('RUN_CANCELLED', 'The run was cancelled.', { details: [run] });
  }
}

function describeTimeLimit({ limitMs, of }: Extract<Outcome, { kind: 'timed_out' }>): string {
  if (of === 'processor') return `The plugin used more than ${limitMs} ms of processor time.`;
  return `The plugin did not finish within ${limitMs} ms.`;
}

function pluginFailed(outcome: string, message: string, runId: string): Problem {
  return new Problem('PLUGIN_FAILED', `The plugin failed: ${message}`, { details: [{ outcome, run_id: runId }] });
}
