import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import { completeOutput } from '../catalogue/schema/complete-output.ts';
import { RedactionRefused } from '../egress/redact/redaction-budget.ts';
import type { Redactor } from '../egress/redact/redactor.ts';
import { hasFewParts, isShallow, maxOutputDepth, maxOutputParts } from './json-bounds.ts';
import type { Outcome } from './outcome.ts';
import { findMedia } from './output-parts/find-parts.ts';
import { type SplitOutput, splitOutput } from './output-parts/split-output.ts';
import { storeParts } from './output-parts/store-parts.ts';
import type { RawOutcome, Run } from './run.ts';
import { keepAnswer, keepLargeAnswer } from './unused-answers/keep-answer.ts';

/**
 * Turns the raw outcome of a plugin into the outcome that is returned: redacts the secrets in all of an output, stores its binary
 * and large parts, and validates it against its schema. Rejects only for defects.
 * @param artifacts without it, nothing is stored
 */
export async function finishRun(raw: RawOutcome, run: Run, artifacts: Artifacts): Promise<Outcome> {
  try {
    return await (raw.kind === 'returned' ? finishOutput(raw, run, artifacts) : finishFailure(raw, run, artifacts));
  } catch (error) {
    if (error instanceof RedactionRefused) return redactionFailed;
    throw error;
  }
}

type Artifacts = Pick<ArtifactStore, 'keep'> | undefined;
type Returned = Extract<RawOutcome, { kind: 'returned' }>;

async function finishFailure(raw: Exclude<RawOutcome, Returned>, run: Run, artifacts: Artifacts): Promise<Outcome> {
  const { unused, isUnusable: _, ...failure } = raw;
  const outcome = redactMessages(failure, run.policy.egress.redactor);
  // A response to the verification of credentials is not a result.
  if (run.plugin === null || !canHaveAnswer(outcome)) return outcome;
  const large = run.largeAnswers.take();
  if (large !== undefined) return { ...outcome, answer: await keepLargeAnswer(large, run) };
  return unused === undefined ? outcome : { ...outcome, answer: await keepAnswer(artifacts, unused, run) };
}

async function finishOutput(raw: Returned, run: Run, artifacts: Artifacts): Promise<Outcome> {
  const { redactor } = run.policy.egress;
  const read = (output: unknown) => {
    const violations = redactor.deep(run.plugin?.checkOutput(output) ?? []);
    const completed = violations.length === 0 ? output : completeOutput(output, run.plugin?.manifest.output_schema);
    return { output: completed, violations: [...redactor.deep(raw.violations ?? []), ...violations] };
  };
  const contents = raw.contents === undefined ? {} : { contents: redactor.deep(raw.contents) };
  const large = largeOutputOf(raw);
  if (large === undefined) {
    const { output, violations } = read(redactor.deep(raw.output));
    const parts = artifacts === undefined ? [] : findMedia(output);
    const stored = await storeParts(artifacts, { output, parts }, { run, isSplit: false });
    return { kind: 'succeeded', violations, ...stored, ...contents };
  }
  const output = redactor.deep(large.output);
  const parts = large.parts.map((part) => ({ ...part, bytes: redactor.bytes(bufferOf(part.bytes)) }));
  const stored = await storeParts(artifacts, { output, parts }, { run, isSplit: true });
  // The placeholder of a whole output does not have the form that the schema requires.
  const isWhole = parts.some(({ path }) => path === '');
  return { kind: 'succeeded', violations: [], ...stored, ...(isWhole ? {} : read(stored.output)), ...contents };
}

/** Replaces the result when the secrets of the result cannot be redacted. */
export const redactionFailed = {
  kind: 'failed',
  message: 'The result was withheld: it could not be searched for the credentials within the limits of the service.',
} as const;

const kindsWithAnswer = [
  'upstream_failed',
  'upstream_rejected',
  'upstream_rate_limited',
  'egress_refused',
  'failed',
  'timed_out',
  'crashed',
  'out_of_memory',
] as const;
type OutcomeWithAnswer = Extract<Outcome, { kind: (typeof kindsWithAnswer)[number] }>;

/** Whether a run can have failed although the third party answered. */
function canHaveAnswer(outcome: Outcome): outcome is OutcomeWithAnswer {
  return kindsWithAnswer.some((kind) => kind === outcome.kind);
}

/** Undefined for an output that can be returned unchanged. */
function largeOutputOf({ output, parts }: { output: unknown } & Partial<SplitOutput>): SplitOutput | undefined {
  if (parts !== undefined && parts.length > 0) return { output, parts };
  if (isShallow(output, maxOutputDepth) && hasFewParts(output, maxOutputParts)) return undefined;
  return splitOutput(output);
}

/** A thread passes a Buffer on as a Uint8Array. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Redacts only texts that others wrote, so that a secret that equals the name of a kind cannot change the kind. */
function redactMessages<T extends Exclude<RawOutcome, Returned>>(outcome: T, redactor: Redactor): T {
  const texts = ['message', 'upstreamCode', 'upstreamMessage', 'excerpt'].flatMap((member) => {
    const text: unknown = Reflect.get(outcome, member);
    return typeof text === 'string' ? [[member, redactor.text(text)]] : [];
  });
  return { ...outcome, ...Object.fromEntries(texts) };
}
