import { Problem } from '../../platform/problem.ts';

/** Why a sign-in with the identity provider failed: in the log, the metric and the details of the answer. */
export type Reason = 'expired' | 'denied' | 'no_access' | 'too_many_groups' | 'unreachable' | 'answer_invalid';

/** The answer is the same for a sign-in that expired, that was used before, or that began in another browser. */
export function signInExpired(): Problem {
  return refused('expired', 'The sign-in has expired, or it began in another browser. Sign in again.');
}

/** The person or the provider ended the sign-in. */
export function signInDenied(): Problem {
  return refused('denied', 'The identity provider did not allow the sign-in. Sign in again, or ask its administrator.');
}

/** @param claim the claim for the roles */
export function tooManyGroups(claim: string): Problem {
  return refused(
    'too_many_groups',
    `The identity provider left out the claim "${claim}", because it has too many values. Ask its administrator to send fewer groups, or application roles, to this application.`,
  );
}

function refused(reason: Reason, message: string): Problem {
  return new Problem('PERMISSION_DENIED', message, { details: [{ reason }], isLogged: true });
}

/**
 * @param host of the provider
 * @param cause for the log: texts of the provider are neither logged nor sent
 */
export function providerUnreachable(host: string, cause: string): Problem {
  const message = `The identity provider ${host} could not be reached. Try again later.`;
  return failed('unreachable', message, cause);
}

export function answerInvalid(host: string, cause: string): Problem {
  const message = `The answer of the identity provider ${host} is not valid. Sign in again. If it happens again, ask the operator of this service for the reason in the log.`;
  return failed('answer_invalid', message, cause);
}

function failed(reason: Reason, message: string, cause: string): Problem {
  return new Problem('PROVIDER_ERROR', message, { details: [{ reason }], cause, isLogged: true });
}
