import assert from 'node:assert/strict';
import { setUp } from './administrator.ts';
import type { CanaryService } from './canary-service.ts';
import { redirectUri, type SignedInApplication, signInApplication } from './oauth.ts';

interface ApplicationWay {
  readonly name: string;
  readonly go: (canary: CanaryService) => Promise<unknown>;
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const accept = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };

async function signIn(canary: CanaryService): Promise<SignedInApplication> {
  const person = await setUp(canary.service);
  const application = await signInApplication(canary.service, { person });
  for (const secret of [application.code, application.accessToken, application.refreshToken]) canary.addSecret(secret);
  return application;
}

/** Sends what an application sends, and sends its code and its tokens to places where they do not belong. */
export const applicationWays: readonly ApplicationWay[] = [
  {
    name: 'the code and the tokens of an application, in their places and in all others',
    go: async (canary) => {
      const application = await signIn(canary);
      await use(canary, application);
      for (const secret of [application.code, application.accessToken, application.refreshToken]) {
        await misplace(canary, application, secret);
      }
    },
  },
];

async function use(canary: CanaryService, { accessToken, refreshToken, clientId, code }: SignedInApplication) {
  const { filesUrl } = canary.service;
  const authorization = `Bearer ${accessToken}`;
  for (const mode of ['echo', 'error-500', 'reset']) {
    const params = { name: 'bearer__ask', arguments: { mode }, _meta: { progressToken: 1 } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const { status } = await canary.call('POST', `${filesUrl}/mcp`, message, { ...accept, authorization });
    assert.equal(status, 200);
  }
  await canary.call('POST', `${filesUrl}/mcp`, '{', { ...accept, authorization });
  await canary.call('GET', '/v1/runs', undefined, { authorization });
  const send = (path: string, fields: Record<string, string>) =>
    canary.call(
      'POST',
      `${filesUrl}/oauth/${path}`,
      `${new URLSearchParams({ client_id: clientId, ...fields })}`,
      form,
    );
  const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: 'x'.repeat(43) };
  assert.equal((await send('token', refresh)).status, 200);
  assert.equal((await send('token', exchange)).status, 400);
  await send('token', { ...refresh, scope: 'admin', resource: 'https://other.example' });
  await send('revoke', { token: accessToken });
  await send('revoke', { token: refreshToken });
}

async function misplace(canary: CanaryService, { clientId }: SignedInApplication, secret: string): Promise<void> {
  const { filesUrl, pluginsUrl } = canary.service;
  for (const base of [filesUrl, pluginsUrl]) {
    const none = { authorization: '' };
    await canary.call('POST', `${base}/mcp?access_token=${secret}`, {}, { ...accept, ...none });
    await canary.call('POST', `${base}/mcp`, { access_token: secret }, { ...accept, ...none });
    await canary.call('GET', `${base}/mcp/${secret}`, undefined, accept);
    for (const authorization of [[`Bearer ${secret}`, 'Bearer x'], `Bearer ${secret}`, `Basic ${secret}`, secret]) {
      const { status } = await canary.call('GET', `${base}/v1/key`, undefined, { Authorization: authorization });
      assert.ok(status >= 400 && status < 500);
    }
    await canary.call('GET', `${base}/v1/limits?key=${secret}`, undefined, {
      cookie: `a=${secret}`,
      referer: `https://a/?code=${secret}`,
    });
    await canary.call('GET', `${base}/v1/files/${secret}`, undefined, {
      authorization: '',
      'user-agent': secret,
      origin: `https://${secret}.example`,
    });
  }
  const fields = new URLSearchParams({
    client_id: clientId,
    code: secret,
    state: secret,
    redirect_uri: `${redirectUri}?${secret}`,
  });
  await canary.call('GET', `${filesUrl}/oauth/authorize?${fields}`);
  await canary.call('GET', `${filesUrl}/oauth/authorize?client_id=${secret}&response_type=code`);
  await canary.call('GET', `${filesUrl}/oauth/authorize/${secret}`, undefined, { cookie: `qm_oauth_resume=${secret}` });
  await canary.call('GET', `${filesUrl}/oauth/requests/${secret}/details`);
  await canary.call('POST', `${filesUrl}/oauth/token`, { code: secret, grant_type: 'authorization_code' });
  await canary.call('POST', `${filesUrl}/oauth/token`, `code=${secret}&grant_type=${secret}&client_id=${secret}`, form);
  await canary.call('POST', `${filesUrl}/oauth/register`, { redirect_uris: [`ftp://a/${secret}`], client_name: 7 });
  const call = { bundle_id: 'bearer', plugin_id: 'ask' };
  const { text } = await canary.call('POST', '/v1/execute', {
    ...call,
    input_params: { mode: 'echo' },
    credentials: { KEY: secret },
  });
  assert.match(text, /may not be sent to other services/);
}
