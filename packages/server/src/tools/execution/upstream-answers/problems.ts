import { Problem } from '../../../platform/problem.ts';
import type { Outcome } from '../outcome.ts';
import { isTemporary, type UpstreamFailure } from './upstream-failure.ts';

type Of<K extends UpstreamFailure['kind']> = Extract<Outcome, { kind: K }>;

/** The error for an answer of a third party. `details[0]` has its status, code and message. Source: docs/contract.md. */
export function upstreamProblem(outcome: UpstreamFailure, runId: string): Problem {
  const { upstreamStatus, upstreamCode, upstreamMessage, excerpt } = outcome;
  const message = upstreamMessage ?? outcome.message;
  const said = { run_id: runId, upstream_status: upstreamStatus, upstream_code: upstreamCode, message };
  switch (outcome.kind) {
    case 'upstream_failed':
      return new Problem('PROVIDER_ERROR', describeFailure(outcome), { details: [{ ...said, excerpt }] });
    case 'upstream_rejected':
      return new Problem('PROVIDER_REJECTED', `The third party rejected the request${quote(outcome)}`, {
        details: [{ ...said, retryable: isTemporary(upstreamStatus), excerpt }],
      });
    case 'upstream_rate_limited': {
      const { retryAfterSeconds: seconds } = outcome;
      const advice = seconds === null ? 'Retry later.' : `Retry after ${seconds} s.`;
      const text = `The third party limits the rate of requests${quote(outcome)} ${advice}`;
      return new Problem('PROVIDER_RATE_LIMITED', text, {
        details: [{ ...said, retryable: true, retry_after_seconds: seconds, excerpt }],
        ...(seconds === null ? {} : { retryAfter: seconds }),
      });
    }
    case 'credentials_rejected': {
      const text = `The third party rejected the credentials${quote(outcome)}`;
      return new Problem('CREDENTIALS_VALIDATION_ERROR', `${text} Check them and run the plugin again.`, {
        details: [{ ...said, retryable: false, excerpt }],
      });
    }
  }
}

function describeFailure(outcome: Of<'upstream_failed'>): string {
  const { message, answer, upstreamMessage } = outcome;
  if (answer !== undefined && answer.isEarlier !== true) {
    return `The plugin cannot use the answer of the third party: ${sentence(message)}`;
  }
  return upstreamMessage === null ? `The third party failed: ${message}` : `The third party failed${quote(outcome)}`;
}

/** Returns the status and the message, such as ` (status 404): No such order.` */
function quote({ upstreamStatus, message }: { upstreamStatus: number | null; message: string | null }): string {
  const status = upstreamStatus === null ? '' : ` (status ${upstreamStatus})`;
  return message === null ? `${status}.` : `${status}: ${sentence(message)}`;
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
