import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Artifact } from '@quartermaster/contract';
import { endedRun } from '../support/client.ts';
import { type Answer, openPaidBundle } from '../support/paid-bundle.ts';
import { type StartedService, startService } from '../support/service.ts';

const token = 'cAnArY-token-0123456789';
/** A third party that repeats the token in its answer. */
const deep = `{"token":"${token}","said":${'['.repeat(300)}1${']'.repeat(300)}}`;
const json =
  (text: string, status = 200): Answer =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  };

async function openWorld(t: TestContext, answer: Answer, settings: Record<string, string> = {}) {
  const paid = await openPaidBundle(t, answer);
  const service = await startService(t, { settings: { ...paid.settings, ...settings } });
  return { ...paid, service };
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: ReadonlyArray<{ readonly artifact?: Artifact; readonly run_id: string }>;
}

async function execute(service: StartedService, pluginId: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.pluginsUrl}/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ bundle_id: 'paid', plugin_id: pluginId, input_params: {}, credentials: { token } }),
  });
  const text = await response.text();
  const { error, data } = JSON.parse(text) as { error: Failure; data: Record<string, unknown> };
  return { status: response.status, text, error, data };
}

/** Downloads the answer that an error names. */
async function download(error: Failure | null | undefined): Promise<string> {
  const artifact = error?.details?.[0]?.artifact;
  assert.ok(artifact, JSON.stringify(error));
  if (error?.message !== null) {
    assert.match(error?.message ?? '', new RegExp(`artifact ${artifact.artifact_id} .*Do not run the plugin again`));
  }
  const content = Buffer.from(await (await fetch(artifact.file_url)).arrayBuffer());
  assert.equal(content.length, artifact.bytes);
  assert.equal(createHash('sha256').update(content).digest('hex'), artifact.sha256);
  return content.toString();
}

const redactedDeep = deep.replace(token, '[redacted]');

test('[unused-answers] an answer whose form the plugin cannot use is stored, and the error names it', async (t) => {
  const answers: Record<string, string> = { any: deep };
  const { service, requests } = await openWorld(t, (request, response) =>
    json(answers[request.url?.slice(1) ?? ''] ?? '{"said":"a result"}')(request, response),
  );
  const nested = await execute(service, 'any');
  assert.deepEqual([nested.status, nested.error.code], [502, 'PROVIDER_ERROR'], nested.text);
  assert.match(nested.error.message, /cannot use the answer of the third party: .*deeper than 200 levels/);
  assert.equal(await download(nested.error), redactedDeep);
  assert.ok(!nested.text.includes(token));
  answers.any = `<html>no JSON ${token}`;
  assert.equal(await download((await execute(service, 'any')).error), '<html>no JSON [redacted]');
  answers.any = JSON.stringify({ said: 'x'.repeat(20) });
  const copied = await execute(service, 'copied');
  assert.equal(copied.error.code, 'PLUGIN_FAILED', copied.text);
  assert.equal(await download(copied.error), answers.any);
  answers.any = JSON.stringify({ unexpected: 1 });
  const other = await execute(service, 'other');
  assert.equal(other.status, 200, 'an output that differs from its schema is the result');
  assert.deepEqual(other.data.data, { unexpected: 1 });
  assert.equal((other.data.output_violations as unknown[]).length, 1);
  assert.equal(requests(), 4);
});

test('[unused-answers] the last answer to a handler is stored when its output is refused or its process ends', async (t) => {
  const answer = JSON.stringify({ token, said: 'a result' });
  const { service } = await openWorld(t, json(answer));
  for (const id of ['long', 'nested', 'leaving']) {
    const { error, text } = await execute(service, id);
    assert.equal(error.code, 'PLUGIN_FAILED', text);
    assert.equal(await download(error), answer.replace(token, '[redacted]'), id);
  }
  // A handler that reports a failure decides what its caller learns.
  const { error } = await execute(service, 'throwing');
  assert.deepEqual([error.message, error.details[0]?.artifact], ['The plugin failed: it broke', undefined]);
});

test('[unused-answers] an answer with a failure status is not stored', async (t) => {
  const { service } = await openWorld(t, json(deep, 500));
  const { error } = await execute(service, 'any');
  assert.equal(error.details[0]?.artifact, undefined);
  assert.match(error.message, /^The third party failed: The API answered with status 500/);
});

test('[unused-answers] asynchronous runs, repetitions and run records name the stored answer', async (t) => {
  const { service, requests } = await openWorld(t, json(deep));
  const headers = { 'idempotency-key': 'paid-1' };
  const first = await execute(service, 'any', headers);
  const second = await execute(service, 'any', headers);
  assert.equal(await download(second.error), redactedDeep);
  assert.deepEqual(second.error.details, first.error.details);
  assert.equal(requests(), 1, 'the third party was asked once');
  const record = await service.client.runs.get(first.error.details[0]?.run_id ?? '');
  assert.equal(await download(record.error as unknown as Failure), redactedDeep);
  const accepted = await execute(service, 'any', { prefer: 'respond-async' });
  const { error, status } = await endedRun(service.client, String(accepted.data.run_id));
  assert.equal(status, 'ended');
  assert.equal(await download(error as unknown as Failure), redactedDeep);
});

test('[unused-answers] over MCP, the error links to the stored answer', async (t) => {
  const { service } = await openWorld(t, json(deep));
  const headers = { authorization: `Bearer ${service.key}`, 'X-Credential-token': token };
  const transport = new StreamableHTTPClientTransport(new URL(`${service.pluginsUrl}/mcp/paid`), {
    requestInit: { headers },
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  t.after(() => client.close());
  const { isError, content } = await client.callTool({ name: 'any', arguments: {} });
  assert.equal(isError, true);
  const [text, link] = [content.at(0), content.at(-1)];
  assert.match(text?.type === 'text' ? text.text : '', /stored as artifact arti.* Do not run the plugin again\./);
  assert.ok(link?.type === 'resource_link', JSON.stringify(content));
  assert.equal(await (await fetch(link.uri)).text(), redactedDeep);
});

test('[unused-answers] an error says so when the answer cannot be stored', async (t) => {
  const { service } = await openWorld(t, json(deep), { MAX_PROJECT_BYTES: '100' });
  const { error } = await execute(service, 'any');
  assert.equal(error.details[0]?.artifact, undefined);
  assert.match(error.message, /its answer could not be stored: .* A further run asks the third party again\.$/);
});
