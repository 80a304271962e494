import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSerializer } from '../../packages/server/src/platform/http/create-app.ts';
import { compileValidator } from '../../packages/server/src/platform/http/validation.ts';
import { readApiDocument } from '../support/api-document.ts';
import { startService } from '../support/service.ts';

interface Content {
  readonly content?: Readonly<Record<string, { schema?: object }>>;
}

interface Operation {
  readonly requestBody?: Content;
  readonly parameters?: ReadonlyArray<{ name: string; in: string; schema: object }>;
  readonly responses: Readonly<Record<string, Content>>;
}

// A schema is compiled at the first request that needs it, so a start does not detect an invalid one.
test('[operations] every schema of both addresses can be compiled', async (t) => {
  const { filesUrl, pluginsUrl } = await startService(t);
  const compiled = { received: 0, sent: 0 };
  for (const address of [filesUrl, pluginsUrl]) {
    const document = await readApiDocument<{ paths: Record<string, Record<string, Operation>> }>(address);
    for (const [url, operations] of Object.entries(document.paths)) {
      for (const [method, { requestBody, parameters = [], responses }] of Object.entries(operations)) {
        const about = { method, url, httpStatus: '200' };
        const received = [...schemasOf(requestBody), ...parameters.map(({ schema }) => schema)];
        for (const schema of received) compileValidator({ ...about, schema, httpPart: 'body' })({});
        const sent = Object.values(responses).flatMap(schemasOf);
        for (const schema of sent) assert.doesNotThrow(() => serialize(schema, about), `${method} ${url}`);
        compiled.received += received.length;
        compiled.sent += sent.length;
      }
    }
  }
  assert.ok(compiled.received > 100 && compiled.sent > 50, JSON.stringify(compiled));
});

function schemasOf(content: Content | undefined): object[] {
  // The schema of an upload is only documentation, because its bytes are not JSON.
  const { 'multipart/form-data': _, ...bodies } = content?.content ?? {};
  return Object.values(bodies).flatMap(({ schema }) => (schema === undefined ? [] : [schema]));
}

/** Checks that the schema compiles. Whether an empty object is valid does not matter. */
function serialize(schema: object, about: { method: string; url: string; httpStatus: string }): void {
  try {
    compileSerializer({ ...about, schema })({});
  } catch (error) {
    if (!/is required!|does not match schema definition/.test((error as Error).message)) throw error;
  }
}
