import type { EgressResult } from '../../../platform/outbound.ts';

/** A successful answer of a third party that a run could not use, because of the size or the form of the answer or the output. */
export interface UnusedAnswer {
  readonly contentType: string | undefined;
  /** Decompressed and redacted, as the broker returns it. */
  readonly body: Buffer;
  /** The third party answered another request after this one. */
  readonly isEarlier?: true;
}

/** The part of a failed run that concerns the response of the third party. */
export interface Unusable {
  /** The size or the form of an answer or output is the reason of the failure. */
  readonly isUnusable?: true;
  readonly unused?: UnusedAnswer;
}

/** Returns the answer if the third party performed the request and sent a body. */
export function unusedAnswerOf(result: EgressResult): UnusedAnswer | undefined {
  if (result.kind !== 'response' || result.status < 200 || result.status > 299) return undefined;
  return result.body.length === 0 ? undefined : { contentType: result.headers['content-type'], body: result.body };
}

/** The members of a token response. Source: RFC 6749 section 5.1; OpenID Connect Core 1.0 section 3.1.3.3. */
const tokenMembers = ['"access_token"', '"refresh_token"', '"id_token"'];

/** Whether an answer looks like a token response. A handler may exchange credentials that its caller may use and not read. */
export function holdsTokens({ body }: UnusedAnswer): boolean {
  return tokenMembers.some((member) => body.includes(member));
}

/** Failures that do not depend on what a handler wants: the service ended it, or its process exited. */
const endedByService: ReadonlySet<string> = new Set(['timed_out', 'crashed', 'out_of_memory']);

/** Adds the answer to the outcome of a run that could not use it. Other outcomes stay as they are. */
export function withUnusedAnswer<T extends { readonly kind: string } & Unusable>(
  outcome: T,
  unused: UnusedAnswer | undefined,
): T {
  if (unused === undefined) return outcome;
  return outcome.isUnusable === true || endedByService.has(outcome.kind) ? { ...outcome, unused } : outcome;
}
