import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Artifact } from '@quartermaster/contract';
import { endedRun } from '../support/client.ts';
import { type Answer, openPaidBundle } from '../support/paid-bundle.ts';
import { download, execute, type Failure, json, openWorld, token } from '../support/paid-runs.ts';
import { runCommand } from '../support/run-command.ts';
import { startService, temporaryFolder } from '../support/service.ts';

/** A third party that repeats the token in its answer. */
const deep = `{"token":"${token}","said":${'['.repeat(300)}1${']'.repeat(300)}}`;
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
});

test('[unused-answers] an answer with a failure status is not stored', async (t) => {
  const { service } = await openWorld(t, json(deep, 500));
  const { error } = await execute(service, 'any');
  assert.equal(error.details[0]?.artifact, undefined);
  assert.match(error.message, /^The third party failed \(status 500\)/);
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

const mib = 2 ** 20;
/** 12 MiB with the token in the middle, also across the border of two chunks. */
const large = Buffer.from(`${'a text '.repeat(900_000)}${token}${'a text '.repeat(900_000)}`);
const redactedLarge = large.toString().replace(token, '[redacted]');

/** Sends the large answer, on request compressed, endless or broken. */
const sendLarge: Answer = (request, response) => {
  request.resume();
  const type = { 'content-type': 'text/plain' };
  response.writeHead(200, type);
  response.end(large);
};

test('[unused-answers] an answer above the limit of the bundle is stored, also compressed and to a handler', async (t) => {
  let isCompressed = false;
  const { service, requests } = await openWorld(t, (request, response) => {
    if (!isCompressed) return sendLarge(request, response);
    request.resume();
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(gzipSync(large));
  });
  const declarative = await execute(service, 'large');
  assert.deepEqual([declarative.status, declarative.error.code], [502, 'PROVIDER_ERROR']);
  assert.match(
    declarative.error.message,
    /^The plugin cannot use the answer of the third party: the answer is larger than 10485760 bytes\. The third party had answered\. Its answer is stored as artifact/,
  );
  assert.ok((await download(declarative.error)) === redactedLarge);
  const handler = await execute(service, 'fetching');
  assert.ok((await download(handler.error)) === redactedLarge, handler.text.slice(0, 500));
  isCompressed = true;
  assert.ok((await download((await execute(service, 'large')).error)) === redactedLarge);
  const accepted = await execute(service, 'large', { prefer: 'respond-async', 'idempotency-key': 'large-1' });
  const { error } = await endedRun(service.client, String(accepted.data.run_id));
  assert.ok((await download(error as unknown as Failure)) === redactedLarge);
  assert.equal(requests(), 4);
  const caught = await execute(service, 'caught');
  assert.deepEqual([caught.data.data, caught.data.artifacts], [{ said: 'yes' }, undefined]);
});

test('[unused-answers] the limit large_answer_bytes: an answer without an end, and one that breaks off, are stored as far as they were read', async (t) => {
  const block = Buffer.alloc(mib, 'x');
  let isEndless = true;
  const { service } = await openWorld(t, (request, response) => {
    request.resume();
    response.on('error', () => {});
    if (!isEndless) return void response.writeHead(200).write(large, () => response.destroy());
    const send = () => {
      while (!response.destroyed && response.write(block));
    };
    response.writeHead(200, { 'content-type': 'video/x-unknown' }).on('drain', send);
    send();
  });
  const { error } = await execute(service, 'large');
  const artifact = error.details[0]?.artifact;
  assert.ok(artifact, JSON.stringify(error));
  assert.deepEqual([artifact.bytes, artifact.media_type], [64 * mib, 'application/octet-stream']);
  assert.match(error.message, /The beginning of its answer is stored as artifact/);
  isEndless = false;
  const broken = await execute(service, 'large');
  assert.match(broken.error.message, /The beginning of its answer is stored as artifact/);
  assert.ok(redactedLarge.startsWith(await download(broken.error)));
});

/** The least of an MCP server with one tool, whose answer is larger than allowed, or no JSON-RPC. */
function answerAsMcp(result: (id: number) => string): Answer {
  const tool = { name: 'ask', description: 'Asks.', inputSchema: { type: 'object', properties: {} } };
  return async (request, response) => {
    const { id, method } = JSON.parse(await textOf(request)) as { id?: number; method: string };
    const reply = (value: object) => JSON.stringify({ jsonrpc: '2.0', id, result: value });
    if (id === undefined) return void response.writeHead(202).end();
    response.setHeader('content-type', 'application/json');
    if (method === 'tools/list') return void response.end(reply({ tools: [tool] }));
    if (method === 'tools/call') return void response.end(result(id));
    const serverInfo = { name: 'paid', version: '1' };
    response.end(reply({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }));
  };
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body)).toString();
}

test('[unused-answers] an answer of an imported MCP server that is too large or no JSON-RPC is stored', async (t) => {
  let isLarge = true;
  const answer = answerAsMcp((id) => {
    if (!isLarge) return 'a paid text';
    return JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'x'.repeat(11 * mib) }] } });
  });
  const { url, folder, settings } = await openPaidBundle(t, answer);
  const target = [`${url}/mcp`, '--out', folder, '--id', 'remote'];
  const imported = await runCommand({ folder, settings }, 'bundle', 'import', 'mcp', ...target);
  assert.equal(imported.code, 0, imported.errors);
  const service = await startService(t, { settings });
  const ask = async () => {
    const error = await service.client.plugins.run('remote/ask', {}).then(
      () => null,
      (reason: unknown) => reason as Failure,
    );
    assert.ok(error);
    return error;
  };
  const tooLarge = await download(await ask());
  assert.ok(tooLarge.length > 11 * mib);
  isLarge = false;
  assert.equal(await download(await ask()), 'a paid text');
});

test('[unused-answers] kill −9 after the answer of the third party: the run names the answer or says that it may have acted', async (t) => {
  const folder = await temporaryFolder(t);
  let answered = Promise.withResolvers<void>();
  const { settings, requests } = await openPaidBundle(t, (request, response) => {
    sendLarge(request, response);
    response.on('finish', () => answered.resolve());
  });
  for (const isDelayed of [false, true]) {
    answered = Promise.withResolvers();
    const service = await startService(t, { folder, settings });
    const before = requests();
    const { data } = await execute(service, 'large', { prefer: 'respond-async' });
    const id = String(data.run_id);
    await answered.promise;
    // The second round kills as soon as the run has ended, before a client has read it.
    if (isDelayed) await endedRun(service.client, id);
    await service.kill();
    const next = await startService(t, { folder, settings });
    const { error, outcome } = await endedRun(next.client, id);
    assert.equal(requests(), before + 1, 'the third party is not asked again');
    const [detail] = (error?.details ?? []) as Array<{ artifact?: Artifact; reason?: string }>;
    if (isDelayed) assert.ok(detail?.artifact, JSON.stringify(error));
    if (detail?.artifact === undefined) {
      assert.deepEqual([outcome, detail?.reason], ['interrupted', 'may_have_acted']);
      assert.match(error?.message ?? '', /the plugin may already have changed data/);
    } else {
      // The second service has another port.
      const { pathname, search } = new URL(detail.artifact.file_url);
      assert.ok((await (await fetch(`${next.pluginsUrl}${pathname}${search}`)).text()) === redactedLarge);
    }
    assert.deepEqual(await readdir(join(folder, 'staging')), [], 'no part of an answer is left');
    assert.equal(await next.stop(), 0);
  }
});
