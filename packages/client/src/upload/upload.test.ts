import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { purposeNames, purposes, purposesFor } from '@quartermaster/contract';
import { ConnectionError } from '../errors.ts';
import { hangUp, startScriptedServer, success } from '../testing/scripted-server.ts';
import type { UploadSource } from './open-source.ts';

const content = 'Grün\r\n--x\u0000';
const stored = success({ file_id: 'f' });

async function writeSample(t: TestContext, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-client-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Parses a body as the Fetch standard does. */
async function parse(body: string, contentType: unknown) {
  const form = await new Response(body, { headers: { 'content-type': String(contentType) } }).formData();
  const file = form.get('file');
  assert.ok(file instanceof File);
  return { purpose: form.get('purpose'), name: file.name, text: await file.text() };
}

test('each source is uploaded with its name and its bytes', async (t) => {
  const path = await writeSample(t, 'grün.md');
  const bytes = new TextEncoder().encode(content);
  const named = { name: 'b.txt' };
  const sources: ReadonlyArray<readonly [source: UploadSource, options: { name?: string }, name: string]> = [
    [path, {}, 'grün.md'],
    [path, named, 'b.txt'],
    [pathToFileURL(path), {}, 'grün.md'],
    [new Blob([content]), named, 'b.txt'],
    [new File([content], 'c.txt'), {}, 'c.txt'],
    [bytes, named, 'b.txt'],
    [Buffer.from(`__${content}`).subarray(2), named, 'b.txt'],
    [bytes.buffer, named, 'b.txt'],
    [new Blob([content]).stream(), named, 'b.txt'],
    [new Response(content), named, 'b.txt'],
    [createReadStream(path), {}, 'grün.md'],
    [createReadStream(path, 'utf8'), {}, 'grün.md'],
    [Readable.from([content]), named, 'b.txt'],
  ];
  for (const [source, options, name] of sources) {
    for (const onProgress of [undefined, () => undefined]) {
      // A stream is read once.
      if (onProgress !== undefined && !(source instanceof Blob || source instanceof Uint8Array)) continue;
      const { client, requests } = await startScriptedServer(t, stored);
      assert.deepEqual(await client.files.upload(source, { ...options, onProgress }), { file_id: 'f' });
      const { body = '', headers } = requests[0] ?? {};
      assert.deepEqual(await parse(body, headers?.['content-type']), { purpose: 'record_file', name, text: content });
    }
  }
});

test('names are escaped like those of a form of the platform', async (t) => {
  for (const name of ['a"b.txt', 'a\r\nX-Evil: 1.txt', 'ünï 測.txt', "a'\\b.txt", 'a%22.txt']) {
    const { client, requests } = await startScriptedServer(t, stored);
    await client.files.upload(new Blob(['a']), { name });
    const form = new FormData();
    form.set('file', new Blob(['a']), name);
    const expected = /filename=".*"/.exec(await new Response(form).text())?.[0];
    assert.equal(/filename=".*"/.exec(requests[0]?.body ?? '')?.[0], expected);
  }
});

test('the purpose follows from the extension unless it is given', async (t) => {
  const { client, requests } = await startScriptedServer(t, stored);
  await client.files.upload(new Blob(['a']), { name: 'a.xlsx', purpose: 'document_file' });
  const extensions = purposeNames.flatMap((purpose) => [...purposes[purpose].extensions]);
  for (const extension of extensions)
    await client.files.upload(new Blob(['a']), { name: `a.${extension.toUpperCase()}` });
  const chosen = await Promise.all(
    requests.map(async ({ body, headers }) => (await parse(body, headers['content-type'])).purpose),
  );
  assert.deepEqual(chosen, ['document_file', ...extensions.map((extension) => purposesFor(extension)[0])]);
});

test('a source that has no name, has no bytes left or is of another kind is refused before a request', async (t) => {
  const { client, requests } = await startScriptedServer(t, stored);
  const upload = (source: unknown, name?: string) => client.files.upload(source as UploadSource, { name });
  await assert.rejects(upload(new Blob(['a'])), /`name` is required/);
  await assert.rejects(upload(new Blob(['a']), ''), /`name` is required/);
  const response = new Response('a');
  await response.text();
  const path = await writeSample(t, 'a.txt');
  const read = createReadStream(path);
  for await (const _ of read);
  const locked = new Blob(['a']).stream();
  locked.getReader();
  for (const spent of [response, read, locked, new Blob([]).stream(), Readable.from([])]) {
    await assert.rejects(upload(spent, 'a.txt'), /no bytes left|destroyed|prematurely/i);
  }
  for (const other of [5, null, undefined, {}, ['a']]) {
    await assert.rejects(upload(other, 'a.txt'), /The content of an upload must be a path/);
  }
  await assert.rejects(upload(new URL('http://a.test/b.txt')), /Only file: URLs are read/);
  await assert.rejects(upload(Response.json({}, { status: 404 }), 'a.txt'), /has the status 404/);
  await assert.rejects(upload(join(path, '..', 'missing.txt')), { code: 'ENOENT' });
  await assert.rejects(upload(join(path, '..')), /must be a file/);
  assert.equal(requests.length, 0);
});

test('an empty file of a path is uploaded, because only streams can be read by mistake', async (t) => {
  const { client, requests } = await startScriptedServer(t, stored);
  await client.files.upload(new Blob([]), { name: 'a.txt' });
  assert.equal(requests.length, 1);
});

test('an upload of a stream is not retried, and one of a file is', async (t) => {
  t.mock.method(Math, 'random', () => 0);
  const { client, requests } = await startScriptedServer(t, hangUp, stored);
  await assert.rejects(client.files.upload(Readable.from(['tea']), { name: 'a.txt' }), ConnectionError);
  assert.equal(requests.length, 1);
  const path = await writeSample(t, 'a.txt');
  const again = await startScriptedServer(t, hangUp, stored);
  await again.client.files.upload(path, { onProgress: () => undefined });
  assert.equal(again.requests.length, 2);
  const { body = '', headers } = again.requests[1] ?? {};
  assert.equal((await parse(body, headers?.['content-type'])).text, content);
});

test('progress is reported as bytes of the file', async (t) => {
  const { client, requests } = await startScriptedServer(t, stored);
  const size = 300_000;
  for (const [source, totalBytes] of [
    [new Blob([new Uint8Array(size)]), size],
    [new Blob([new Uint8Array(size)]).stream(), null],
  ] as const) {
    const seen: number[] = [];
    await client.files.upload(source, {
      name: 'a.txt',
      onProgress: (progress) => {
        assert.equal(progress.totalBytes, totalBytes);
        seen.push(progress.sentBytes);
      },
    });
    assert.ok(seen.length >= 3);
    assert.equal(requests.at(-1)?.headers['content-length'] !== undefined, totalBytes !== null);

    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    );
    assert.equal(seen.at(-1), size);
  }
});
