import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { writeBundle } from '../../packages/cli/src/bundles/write-bundle.ts';
import { importOpenApi } from '../../packages/importers/src/testing/import-openapi.suite.ts';
import { serve } from '../support/http.ts';
import { openWorld } from './bundle-fixture.ts';

/** Returns the document of an API invented for this test, with these flows. */
function documentOf(flows: object): string {
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Fleet', version: '1.0.0' },
    servers: [{ url: 'https://api.fleet.things.dev/v1' }],
    security: [{ login: ['read'] }],
    paths: { '/cars': { get: { operationId: 'listCars', responses: { 200: { description: 'Cars.' } } } } },
    components: { securitySchemes: { login: { type: 'oauth2', flows } } },
  });
}

const clientCredentials = { tokenUrl: 'https://login.fleet.things.dev/oauth/token', scopes: { read: 'Read.' } };

async function startUpstream(t: TestContext) {
  const requests: string[] = [];
  const origin = await serve(t, (request, response) => {
    void text(request).then((body) => {
      requests.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`.trim());
      const answer =
        request.url === '/oauth/token' ? { access_token: 'tok-1', token_type: 'Bearer', expires_in: 60 } : {};
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  return { origin, requests };
}

test('an imported API with client credentials gets its access tokens itself', async (t) => {
  const out = await mkdtemp(join(tmpdir(), 'quartermaster-oauth-import-'));
  t.after(() => rm(out, { recursive: true, force: true }));
  const imported = importOpenApi(documentOf({ clientCredentials }));
  await writeBundle(out, imported);
  assert.match(
    imported.report.notes.join(),
    /requested from https:\/\/login\.fleet\.things\.dev\/oauth\/token without a scope/,
  );
  const { origin, requests } = await startUpstream(t);
  const world = await openWorld({ folder: out, upstream: origin });
  t.after(() => world.close());
  assert.deepEqual(world.catalogue.failures, []);
  const credentials = { CLIENT_ID: 'fleet', CLIENT_SECRET: 'hush-hush' };
  const request = { bundle_id: 'fleet', plugin_id: 'list_cars', input_params: {}, credentials };
  const { outcome } = await world.executor.execute(request, new AbortController().signal);
  assert.equal(outcome.kind, 'succeeded', JSON.stringify(outcome));
  const basic = `Basic ${Buffer.from('fleet:hush-hush').toString('base64')}`;
  assert.deepEqual(requests, [`POST /oauth/token ${basic} grant_type=client_credentials`, 'GET /v1/cars Bearer tok-1']);
});

test('an access token is the credential where people sign in or where tokens cannot be requested', () => {
  for (const flows of [
    {
      clientCredentials,
      authorizationCode: { ...clientCredentials, authorizationUrl: 'https://login.fleet.things.dev/' },
    },
    { clientCredentials: { ...clientCredentials, tokenUrl: 'http://login.fleet.things.dev/token' } },
  ]) {
    const { bundle } = importOpenApi(documentOf(flows));
    const names = Object.keys(Object(Reflect.get(Object(bundle.credentials_schema), 'properties')));
    assert.deepEqual([names, bundle.hosts], [['ACCESS_TOKEN'], ['api.fleet.things.dev']]);
  }
});
