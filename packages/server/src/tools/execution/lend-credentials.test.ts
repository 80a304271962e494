import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../platform/problem.ts';
import { createFolder, handlerCode, handlerYaml, load } from '../catalogue/load/testing/bundle-folder.suite.ts';
import { judgeTarget } from '../egress/target.ts';
import { apiHost, apiOrigin, never, startBroker, startServer } from '../egress/testing/broker.suite.ts';
import { createHandlerFetch } from './handler-fetch.ts';
import { createRunPolicy, defaultLimits } from './run-policy.ts';
import { compileErrorRules } from './upstream-answers/error-rules.ts';

const manifest = `id: piece_chat
version: 1.0.0
name: Chat
description: Chat.
provider: Example
developer: Example
hosts: [${apiHost}, '{subdomain}.chat.example', '{base_url}']
credentials_schema:
  type: object
  properties:
    token: {type: string, x-secret: true, description: A token.}
    subdomain: {type: string, description: A name.}
    base_url: {type: string, description: An address.}
credential_places:
  hosts: [${apiHost}, '{subdomain}.chat.example']
  places: [{in: header, name: authorization}]
`;

type T = Parameters<typeof createFolder>[0];

async function policyOf(t: T, credentials: Record<string, string>) {
  return createRunPolicy(await bundleOf(t), credentials, { limits: defaultLimits });
}

async function bundleOf(t: T) {
  const files = {
    'piece_chat/bundle.yaml': manifest,
    'piece_chat/add.yaml': handlerYaml,
    'piece_chat/add.ts': handlerCode,
  };
  const catalogue = await load(await createFolder(t, files));
  assert.deepEqual(catalogue.failures, []);
  const bundle = catalogue.findBundle('piece_chat');
  assert.ok(bundle !== undefined);
  assert.equal(bundle.isolation, 'sandbox');
  return bundle;
}

test('a piece without credentials that calls another host fails with the command that allows it', async (t) => {
  const bundle = await bundleOf(t);
  const { credential_places: _, ...rest } = bundle.manifest;
  const piece = { package: '@x/piece-chat', version: '1.0.0', integrity: 'sha512-x', auth: [] };
  const { egress } = createRunPolicy({ ...bundle, manifest: { ...rest, piece } }, {}, { limits: defaultLimits });
  const judged = judgeTarget(new URL('https://other.example/'), egress, {
    overrides: new Map(),
    isAllowed: () => true,
  });
  assert.match(
    'refused' in judged ? judged.refused : '',
    /run: quartermaster bundle update piece_chat --add-hosts other\.example$/,
  );
});

test('a handler gets placeholders of the secrets, and the hosts that the other credentials name', async (t) => {
  const credentials = { token: 'r3al-secret', subdomain: 'Acme', base_url: 'https://chat.acme.example:8443/api' };
  const { lent, egress } = await policyOf(t, credentials);
  const { token = '', ...others } = lent?.handlerCredentials ?? {};
  assert.match(token, /^qmph/);
  assert.deepEqual(others, { subdomain: 'Acme', base_url: credentials.base_url });
  assert.deepEqual([...egress.hosts], [apiHost, 'acme.chat.example', 'chat.acme.example:8443']);
  assert.deepEqual([...(egress.placeholders?.hosts ?? [])], [apiHost, 'acme.chat.example']);
  assert.deepEqual([...egress.schemes], ['https']);
  assert.deepEqual([...(await policyOf(t, { token: 'r3al-secret' })).egress.hosts], [apiHost]);
});

test('a credential that is more than its part of a host is refused', async (t) => {
  const refused = async (credentials: Record<string, string>) =>
    await assert.rejects(policyOf(t, { token: 'r3al-secret', ...credentials }), (error) => error instanceof Problem);
  for (const subdomain of ['evil.example/', 'a.b', 'a:1', '', '-a', 'a@b', 'ä', 'a\n']) await refused({ subdomain });
  for (const base_url of ['http://a.example', 'https://u:p@a.example', 'https://', 'ftp://a.example', 'a b'])
    await refused({ base_url });
});

test('a rejection of a call without its credential says that the secret itself cannot be used', async (t) => {
  const upstream = await startServer(t, (_request, response) =>
    response.writeHead(401).end('{"message":"Bad signature."}'),
  );
  const broker = startBroker(t, { overrides: new Map([[apiOrigin, upstream.origin]]) });
  const messages: string[] = [];
  for (const isSent of [false, true]) {
    const policy = await policyOf(t, { token: 'r3al-secret' });
    const rules = { errors: compileErrorRules(), blamesCredentials: () => true };
    const handler = createHandlerFetch(broker, policy, rules);
    const headers = isSent
      ? { authorization: `Bearer ${policy.lent?.handlerCredentials.token}` }
      : { 'x-signature': 'a1b2' };
    await handler.fetch({ url: apiOrigin, headers }, never);
    const failure = handler.blame();
    await assert.rejects(
      handler.fetch({ url: 'https://other.example/' }, never),
      /bundle update piece_chat --add-hosts other\.example$/,
    );
    messages.push(failure !== null && 'message' in failure ? failure.message : '');
  }
  assert.deepEqual(messages, [
    'The plugin sent no credential. It may compute with the secret, for a signature (HMAC) or a token (JWT), which is not possible: it holds a placeholder. Bad signature.',
    'Bad signature.',
  ]);
  assert.equal(upstream.requests[1]?.headers.authorization, 'Bearer r3al-secret');
});
