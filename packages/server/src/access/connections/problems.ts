import { Problem } from '../../platform/problem.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';

/** `credentials.$connection` does not name a usable connection. */
export function connectionReferenceInvalid(found: string, expected: string): Problem {
  return fieldInvalid('body/credentials/$connection', found, expected);
}

/** The end user has not connected yet, or must connect again. */
export function connectionNotActive(id: string, status: string, reason: string | null): Problem {
  const why =
    status === 'pending'
      ? 'the end user has not connected yet, or the application has not sent the confirmation'
      : 'the end user must connect again';
  return new Problem(
    'CREDENTIALS_VALIDATION_ERROR',
    `The connection ${id} cannot be used: ${why}. Create a link with POST /v1/connections/${id}/link and send it to the end user.`,
    { details: [{ connection_id: id, status, ...(reason === null ? {} : { reason }) }] },
  );
}

/** The application cannot use a confirmation twice, late, or for another connection. */
export function confirmationInvalid(): Problem {
  return fieldInvalid(
    'body/confirmation',
    'a text that is unknown, expired or used',
    'the `confirmation` of the return URL, within 10 minutes. Read the connection: if it is not active, create another link',
  );
}

/** Another person than the end user has connected an account. */
export function otherEndUser(id: string, isRevoked: boolean): Problem {
  const access = isRevoked
    ? 'its access was revoked'
    : 'its tokens were erased, but the provider did not confirm the revocation';
  return new Problem(
    'PERMISSION_DENIED',
    `The connection ${id} belongs to another end user than end_user. The account was not connected, and ${access}. Create a link for the user who is signed in.`,
  );
}

export function clientMissing(bundleId: string): Problem {
  const remedy = `An administrator sets it in the console, under Credentials, or with PUT /v1/oauth_clients/${bundleId}`;
  return new Problem('NOT_CONFIGURED', `The bundle ${quoteText(bundleId)} has no OAuth client. ${remedy}.`);
}

/** The bundle takes no OAuth client. */
export function noOauth(bundleId: string): Problem {
  return fieldInvalid('path/bundle_id', quoteText(bundleId), 'a bundle that declares `oauth`');
}

/** The provider refused the OAuth client itself. */
export function clientRefused(bundleId: string, code: string): Problem {
  return new Problem(
    'NOT_CONFIGURED',
    `The provider refused the OAuth client of the bundle ${quoteText(bundleId)}: ${code}. Correct its client id, secret and redirect URI.`,
  );
}

/** The access token has expired and the provider gave no new one. */
export function refreshUnavailable(id: string, retryAfter = 5): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    `The connection ${id} could not be refreshed, because its provider did not answer as expected. Retry the request.`,
    { retryAfter },
  );
}

export function tooManyConnections(most: number): Problem {
  return new Problem(
    'RESOURCE_LIMIT_REACHED',
    `The project has ${most} connections, which is the maximum. Delete some and retry.`,
    { retryAfter: 60 },
  );
}

/** The bundle takes no credentials. */
export function nothingToConnect(bundleId: string): Problem {
  return fieldInvalid('body/bundle_id', quoteText(bundleId), 'a bundle that takes credentials');
}
