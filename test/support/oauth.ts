import { createHash, randomBytes } from 'node:crypto';
import { consoleTokenHeader } from '@quartermaster/contract';
import { beginSession, type SignedIn, signedIn } from './administrator.ts';
import { readAnswer, type Sent, send } from './http.ts';
import type { StartedService } from './service.ts';

/** The redirect URI of the test's application. Nothing listens there: the test reads the redirect itself. */
export const redirectUri = 'http://127.0.0.1:33418/callback';

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** What a person decides. Missing members allow everything that was asked for. */
export interface Choice {
  readonly scopes?: readonly string[];
  readonly collections?: readonly string[] | null;
  readonly tools?: readonly string[] | null;
  readonly project?: string;
}

/** A request that waits for a decision, in the browser in which it began. */
export interface Waiting {
  readonly id: string;
  readonly cookie: string;
}

/** A browser without a window: it follows the redirects of a sign-in and sends what the page of consent would send. */
export function openBrowser(filesUrl: string, person: SignedIn) {
  const withCookies = (cookie: string) => ({ headers: { cookie: `${person.cookie}; ${cookie}` } });

  async function begin(url: string | URL): Promise<Waiting> {
    const answer = await fetch(url, { redirect: 'manual' });
    const location = answer.headers.get('location') ?? '';
    const id = /\/oauth\/requests\/([\w-]+)$/.exec(location)?.[1];
    if (id === undefined) throw new Error(`no page of consent: ${answer.status} ${location} ${await answer.text()}`);
    return { id, cookie: cookiesOf(answer) };
  }
  async function readDetails({ id, cookie }: Waiting) {
    const answer = await person.ask('GET', `/oauth/requests/${id}/details`, withCookies(cookie));
    return readAnswer(answer.status, await answer.text());
  }
  async function decide({ id, cookie }: Waiting, body: object) {
    const answer = await person.ask('POST', `/oauth/requests/${id}/decision`, { body, ...withCookies(cookie) });
    return readAnswer(answer.status, await answer.text());
  }
  /** Continues after the decision. @returns the URL to which the browser is sent */
  async function finish({ cookie }: Waiting, decided: Omit<Sent, 'headers'>): Promise<URL> {
    if (decided.status !== 200) throw new Error(`the decision was refused: ${decided.text}`);
    const url = new URL(decided.body.data.continue_url, filesUrl);
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`no redirect: ${answer.status} ${await answer.text()}`);
    return new URL(location);
  }
  return {
    begin,
    readDetails,
    decide,
    finish,
    /** Allows what the application asks for, or less. @returns the URL with the code */
    async allow(url: string | URL, choice: Choice = {}): Promise<URL> {
      const waiting = await begin(url);
      const { body } = await readDetails(waiting);
      const { scopes = body.data.scopes, collections = null, tools = null, project = person.projectId } = choice;
      const decided = await decide(waiting, { decision: 'allow', project_id: project, scopes, collections, tools });
      return finish(waiting, decided);
    },
  };
}

export function cookiesOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0] ?? '')
    .join('; ');
}

/** Sends a form, as applications do. */
export async function postForm(url: string, fields: Readonly<Record<string, string>> | URLSearchParams): Promise<Sent> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
  return { headers: answer.headers, ...readAnswer(answer.status, await answer.text()) };
}

/** An application that has signed in, with everything that it got. */
export interface SignedInApplication {
  readonly clientId: string;
  readonly code: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

interface SignIn {
  readonly person: SignedIn;
  /** Default: `/mcp` of the files address. */
  readonly resource?: string;
  /** Default: those of the resource. */
  readonly scope?: string;
  readonly choice?: Choice;
}

/** Registers an application. @returns the path at which its sign-in begins */
async function register(filesUrl: string, request: Readonly<Record<string, string>>) {
  const registration = { redirect_uris: [redirectUri], client_name: 'Otter agent' };
  const { body } = await send(`${filesUrl}/oauth/register`, { json: registration });
  const client = { client_id: String(body.client_id), redirect_uri: redirectUri };
  const { verifier, challenge } = newPkce();
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const parameters = new URLSearchParams({ response_type: 'code', ...client, ...pkce, ...request });
  return { client, verifier, path: `/oauth/authorize?${parameters}` };
}

/**
 * Registers an application. @returns the path that leads a browser to its page of consent
 * @param more further parameters, such as `scope`
 */
export async function authorizationPath(
  filesUrl: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  return (await register(filesUrl, { resource: `${filesUrl}/mcp`, ...more })).path;
}

/** Registers an application, lets the person decide, and exchanges the code. */
export async function signInApplication(
  { filesUrl }: Pick<StartedService, 'filesUrl'>,
  { person, resource = `${filesUrl}/mcp`, scope, choice = {} }: SignIn,
): Promise<SignedInApplication> {
  const { client, verifier, path } = await register(filesUrl, { resource, ...(scope === undefined ? {} : { scope }) });
  const code = (await openBrowser(filesUrl, person).allow(filesUrl + path, choice)).searchParams.get('code') ?? '';
  const exchange = { grant_type: 'authorization_code', code, code_verifier: verifier, ...client };
  const { body, text } = await postForm(`${filesUrl}/oauth/token`, exchange);
  if (body?.access_token === undefined) throw new Error(`the code was refused: ${text}`);
  const { access_token: accessToken, refresh_token: refreshToken } = body;
  return { clientId: client.client_id, code, accessToken, refreshToken };
}

/** Returns the id of an application in the list of applications. */
export async function findApplication({ filesUrl, key }: StartedService, clientId: string): Promise<string> {
  const { body } = await send(`${filesUrl}/v1/applications`, { key });
  return body.data.find((one: { client_id: string }) => one.client_id === clientId).application_id;
}

/** Registers an application and allows it everything that it asks for. @returns its id in the list of applications */
export async function allowApplication(service: StartedService): Promise<string> {
  const { headers } = await beginSession(service);
  const person = await signedIn(service, { cookie: headers.cookie, consoleToken: headers[consoleTokenHeader] });
  return findApplication(service, (await signInApplication(service, { person })).clientId);
}
