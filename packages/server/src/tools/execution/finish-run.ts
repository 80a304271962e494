import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { CompiledPlugin } from '../catalogue/catalogue.ts';
import { RedactionRefused } from '../egress/redact/redaction-budget.ts';
import type { Redactor } from '../egress/redact/redactor.ts';
import { hasFewParts, isShallow, maxOutputDepth, maxOutputParts } from './json-bounds.ts';
import type { Outcome } from './outcome.ts';
import { findMedia } from './output-parts/find-parts.ts';
import { type SplitOutput, splitOutput } from './output-parts/split-output.ts';
import { storeParts } from './output-parts/store-parts.ts';
import type { RawOutcome, Run } from './run-plugin.ts';
import { keepAnswer, keepLargeAnswer } from './unused-answers/keep-answer.ts';

/** Turns the raw outcome of a plugin into the outcome that is returned. It rejects only for defects. */
export type Finish = (raw: RawOutcome, run: Run, plugin: CompiledPlugin | undefined) => Promise<Outcome>;

/**
 * Redacts the secrets in all of an output, stores its binary and large parts, and validates it against its schema.
 * @param artifacts without it, nothing is stored
 */
export function createFinish(artifacts: Pick<ArtifactStore, 'keep'> | undefined): Finish {
  async function finish(raw: RawOutcome, run: Run, plugin: CompiledPlugin | undefined): Promise<Outcome> {
    const { redactor } = run.policy.egress;
    if (raw.kind !== 'returned') {
      const { unused, isUnusable: _, ...failure } = raw;
      const outcome = redactMessages(failure, redactor);
      // A response to the verification of credentials is not a result.
      if (plugin === undefined || !canHaveAnswer(outcome)) return outcome;
      const large = run.largeAnswers.take();
      if (large !== undefined) return { ...outcome, answer: await keepLargeAnswer(large, run) };
      return unused === undefined ? outcome : { ...outcome, answer: await keepAnswer(artifacts, unused, run) };
    }
    const contents = raw.contents === undefined ? {} : { contents: redactor.deep(raw.contents) };
    const large = largeOutputOf(raw);
    if (large === undefined) {
      const output = redactor.deep(raw.output);
      const violations = redactor.deep(plugin?.checkOutput(output) ?? []);
      const parts = artifacts === undefined ? [] : findMedia(output);
      const stored = await storeParts(artifacts, { output, parts }, { run, isSplit: false });
      return { kind: 'succeeded', violations, ...stored, ...contents };
    }
    const output = redactor.deep(large.output);
    const parts = large.parts.map((part) => ({ ...part, bytes: redactor.bytes(bufferOf(part.bytes)) }));
    const stored = await storeParts(artifacts, { output, parts }, { run, isSplit: true });
    // The placeholder of a whole output does not have the form that the schema requires.
    const isWhole = parts.some(({ path }) => path === '');
    const violations = isWhole ? [] : redactor.deep(plugin?.checkOutput(stored.output) ?? []);
    return { kind: 'succeeded', violations, ...stored, ...contents };
  }

  return async (raw, run, plugin) => {
    try {
      return await finish(raw, run, plugin);
    } catch (error) {
      if (error instanceof RedactionRefused) return redactionFailed;
      throw error;
    }
  };
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
function redactMessages<T extends Exclude<RawOutcome, { kind: 'returned' }>>(outcome: T, redactor: Redactor): T {
  const texts = ['message', 'upstreamCode', 'upstreamMessage', 'excerpt'].flatMap((member) => {
    const text: unknown = Reflect.get(outcome, member);
    return typeof text === 'string' ? [[member, redactor.text(text)]] : [];
  });
  return { ...outcome, ...Object.fromEntries(texts) };
}
