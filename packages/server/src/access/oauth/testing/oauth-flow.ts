import { newPkce } from '../../../../../../test/support/oauth.ts';
import { callback, clientId, issuer, type OauthApp } from './oauth-app.ts';

export type Fields = Readonly<Record<string, string | undefined>>;

const given = (fields: Fields) =>
  Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);

/** Sends the requests of an application, and those of the browser of the administrator. */
export function createFlow({ app, person, project }: OauthApp) {
  const pkce = newPkce();
  const request: Fields = {
    ...{ response_type: 'code', client_id: clientId, redirect_uri: callback, state: 'abc' },
    ...{ code_challenge: pkce.challenge, code_challenge_method: 'S256', resource: `${issuer}/mcp` },
  };
  const cookiesOf = (answer: { headers: Record<string, unknown> }) =>
    [answer.headers['set-cookie'] ?? []]
      .flat()
      .map((cookie) => String(cookie).split(';', 1)[0])
      .join('; ');
  const authorize = (changes: Fields = {}, more = '') =>
    app.inject({ url: `/oauth/authorize?${new URLSearchParams(given({ ...request, ...changes }))}${more}` });
  const details = (id: string, cookie: string, headers: object = person.headers) =>
    app.inject({
      url: `/oauth/requests/${id}/details`,
      headers: { cookie: `${person.cookie}; ${cookie}`, ...headers },
    });
  const decide = (id: string, cookie: string, payload: object, headers: object = person.headers) =>
    app.inject({
      method: 'POST',
      url: `/oauth/requests/${id}/decision`,
      payload,
      headers: { cookie: `${person.cookie}; ${cookie}`, ...headers },
    });
  const allowed = {
    decision: 'allow',
    project_id: project.id,
    scopes: ['collections:read', 'plugins'],
    collections: null,
    tools: null,
  };

  async function begin(changes: Fields = {}) {
    const answer = await authorize(changes);
    const id = /\/oauth\/requests\/([\w-]+)$/.exec(String(answer.headers.location))?.[1];
    if (id === undefined)
      throw new Error(`no page of consent: ${answer.statusCode} ${answer.headers.location} ${answer.body}`);
    return { id, cookie: cookiesOf(answer) };
  }
  /** Returns the URL to which the browser is sent after the decision. */
  async function callbackOf(changes: Fields = {}, decision: object = allowed): Promise<URL> {
    const { id, cookie } = await begin(changes);
    const decided = await decide(id, cookie, { ...allowed, ...decision });
    if (decided.statusCode !== 200) throw new Error(decided.body);
    const url = new URL(decided.json().data.continue_url);
    const answer = await app.inject({ url: url.pathname, headers: { cookie } });
    return new URL(String(answer.headers.location ?? answer.body));
  }
  const token = (fields: Fields) =>
    app.inject({
      method: 'POST',
      url: '/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(given(fields)).toString(),
    });
  const exchange = (code: string, changes: Fields = {}) =>
    token({
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      redirect_uri: callback,
      code_verifier: pkce.verifier,
      ...changes,
    });
  const refresh = (refreshToken: string, changes: Fields = {}) =>
    token({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId, ...changes });
  const call = (accessToken: string, url = '/mcp', headers: object = {}) =>
    app.inject({
      method: 'POST',
      url,
      payload: {},
      headers: { host: 'q.example', authorization: `Bearer ${accessToken}`, ...headers },
    });
  /** Signs an application in. */
  async function signIn(changes: Fields = {}, decision: object = allowed) {
    const code = (await callbackOf(changes, decision)).searchParams.get('code') ?? '';
    const answer = await exchange(code, { resource: changes.resource });
    if (answer.statusCode !== 200) throw new Error(answer.body);
    return {
      code,
      ...(answer.json() as { access_token: string; refresh_token: string; scope: string; expires_in: number }),
    };
  }
  return { pkce, authorize, details, decide, begin, callbackOf, exchange, refresh, token, call, signIn, allowed };
}
