import { createApi } from '@quartermaster/client/api';
import type { ProviderAnswer, ProviderSession, SignInWays } from '@quartermaster/contract';
import { basePath } from '../base-path.ts';
import { filesOptions } from './addresses.ts';

/** The calls of the sign-in with an identity provider, which no API document contains. */
interface SignInApi {
  'GET /v1/sign_in': { request: object; responses: { 200: { status: 'success'; data: SignInWays } } };
  'POST /v1/sign_in/oidc': {
    request: { body: ProviderAnswer };
    responses: { 200: { status: 'success'; data: ProviderSession } };
  };
}

export const signInApi = createApi<SignInApi>(filesOptions);

/** The page to which an identity provider sends the browser back. */
export const callbackPath = '/sign-in/callback';

export const providerAnswer = takeAnswer();

/** Takes the answer out of the URL before the router reads it, so that the history of the browser does not keep the code. */
function takeAnswer(): string {
  const { pathname, search } = window.location;
  if (pathname !== basePath + callbackPath) return '';
  window.history.replaceState(null, '', pathname);
  return search.slice(1);
}

/** The URL of the sign-in, which returns to this page. */
export function providerUrl(): string {
  const { pathname, search } = window.location;
  const query = new URLSearchParams({ return_to: pathname.slice(basePath.length) + search });
  return `${basePath}/v1/sign_in/oidc?${query}`;
}
