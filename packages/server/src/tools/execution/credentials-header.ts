import { profileMember } from '@quartermaster/contract';
import { isJsonObject } from '../../platform/json/json-object.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { Problem } from '../../platform/problem.ts';

/** The header with the credentials of one call: a JSON object as base64url. */
export const credentialsHeader = 'x-plugin-credentials';
/** The header that names a credential profile instead of credentials. */
export const profileHeader = 'x-plugin-profile';

/** The value of a header, in the types that HTTP servers use for it. */
type HeaderValue = string | readonly string[] | undefined | null;

/**
 * Reads the credentials from the headers of a call whose body has another purpose. Empty when neither header is sent.
 * @throws Problem whose message quotes no part of the header
 */
export function readCredentialsHeaders(headerOf: (name: string) => HeaderValue): Record<string, unknown> {
  const fromHeader = readCredentials(headerOf(credentialsHeader));
  const profile = headerOf(profileHeader);
  return profile === undefined || profile === null ? fromHeader : { ...fromHeader, [profileMember]: String(profile) };
}

function readCredentials(header: HeaderValue): Record<string, unknown> {
  if (header === undefined || header === null) return {};
  if (typeof header !== 'string' || !/^[A-Za-z0-9_-]+={0,2}$/.test(header)) throw credentialsHeaderInvalid();
  try {
    const value: unknown = parseJson(Buffer.from(header, 'base64url').toString('utf8'));
    if (isJsonObject(value)) return value;
  } catch {
    // The message of the parser would quote a part of the text.
  }
  throw credentialsHeaderInvalid();
}

/** Translates the paths of an error from the body of `/v1/execute` to the headers of this call. */
export function asDirectCall(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const details = error.details?.map((detail) =>
    typeof detail.path === 'string' ? { ...detail, path: movedPath(detail.path) } : detail,
  );
  const { code, message, headers } = error;
  return new Problem(code, movedPath(message), {
    headers,
    cause: error,
    ...(details === undefined ? {} : { details }),
  });
}

function movedPath(text: string): string {
  return text.replace(/^body\/credentials/, `headers/${credentialsHeader}`).replace(/^body\/input_params/, 'body');
}

/** The message does not quote the header, which may hold a credential. */
function credentialsHeaderInvalid(): Problem {
  const expected = 'a JSON object, encoded as base64url without line breaks';
  return new Problem('INVALID_REQUEST', `headers/${credentialsHeader} must be ${expected}.`);
}
