import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleTokenHeader, csrfHeader } from '@quartermaster/contract';
import { setUp } from '../support/administrator.ts';
import { readApiDocument } from '../support/api-document.ts';
import { startService } from '../support/service.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-secret'?: boolean;
}
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly body: Schema;
}

const secretName = /pass(word|phrase)|secret|(^|_)token$|^credentials$|^key$|_key$|^confirmation$/;
const secret = 8_241_550_193;
/** The secret in places and types in which a caller may put it by mistake. */
const forms: ReadonlyArray<(name: string) => unknown> = [
  (name) => ({ [name]: secret }),
  (name) => ({ [name]: [secret] }),
  (name) => ({ [name]: `${secret}` }),
  (name) => ({ [name]: `${secret}`.repeat(400) }),
  (name) => ({ [name]: { value: secret, $profile: secret } }),
  (name) => ({ [name]: { value: { [secret]: `${secret}` } } }),
  () => secret,
  () => [`${secret}`],
];

test('[secrets] no error repeats a field that the contract marks as a secret, whatever its type or place', async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: 'info' } });
  const { cookie, consoleToken } = await setUp(service);
  const session = { cookie, [consoleTokenHeader]: consoleToken, [csrfHeader]: '1' };
  let answers = 0;
  const send = async (url: string, headers: Record<string, string>, { method, path }: Operation, body: string) => {
    const answer = await fetch(url + path.replaceAll(/\{\w+\}/g, 'none'), {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body,
    });
    assert.ok(answer.status >= 400, `${method} ${path} with ${body.slice(0, 80)}: ${answer.status}`);
    const text = (await answer.text()).replaceAll(answer.headers.get('x-request-id') ?? '', '');
    assert.ok(!text.includes(`${secret}`), `${method} ${path}: ${text}`);
    answers += 1;
  };
  const marked: string[] = [];
  for (const [url, headers] of [
    [service.filesUrl, session],
    [service.pluginsUrl, { Authorization: `Bearer ${service.key}` }],
  ] as const) {
    for (const operation of await operationsWithBody(url)) {
      for (const [name, property] of Object.entries(operation.body.properties ?? {})) {
        const isMarked = property['x-secret'] === true;
        assert.equal(isMarked, secretName.test(name), `${operation.path} ${name}: x-secret`);
        if (!isMarked) continue;
        marked.push(`${operation.path} ${name}`);
        for (const form of forms) await send(url, headers, operation, JSON.stringify(form(name)));
        await send(url, headers, operation, `{"${name}": ${secret}, ${secret}`);
      }
    }
  }
  assert.equal(answers, marked.length * (forms.length + 1));
  assert.deepEqual(marked.sort(), [
    '/v1/collections/{collection_id}/records password',
    '/v1/collections/{collection_id}/records/{record_id} password',
    '/v1/connections/{connection_id}/confirm confirmation',
    '/v1/credential_profiles credentials',
    '/v1/credential_profiles/{name} credentials',
    '/v1/execute credentials',
    '/v1/oauth_clients/{bundle_id} client_secret',
    '/v1/plugins/{bundle_id}/{plugin_id}/options credentials',
    '/v1/session password',
    '/v1/session/password current_password',
    '/v1/session/password new_password',
    '/v1/setup password',
    '/v1/setup token',
    '/v1/verify_credentials credentials',
  ]);
  assert.ok(!service.log().includes(`${secret}`), 'the log repeats no secret either');
});

async function operationsWithBody(url: string): Promise<Operation[]> {
  const document = await readApiDocument<{
    paths: Record<
      string,
      Record<string, { requestBody?: { content: Record<string, { schema: Schema } | undefined> } } | undefined>
    >;
  }>(url);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const body = operation?.requestBody?.content['application/json']?.schema;
      return body === undefined ? [] : [{ method: method.toUpperCase(), path, body }];
    }),
  );
}
