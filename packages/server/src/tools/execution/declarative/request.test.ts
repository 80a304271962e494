import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestTemplate } from '@quartermaster/plugin-kit';
import fc from 'fast-check';
import type { EgressRequest } from '../../../platform/outbound.ts';
import { compileRequest } from './request.ts';

const template = (members: Partial<RequestTemplate>): RequestTemplate => ({
  method: 'GET',
  url: 'https://api.example.com/v1',
  ...members,
});

/** Parses the form with the parser of Node.js, so that the test does not depend on our code. */
function readForm({ body = '', headers = {} }: EgressRequest): Promise<FormData> {
  return new Response(new Uint8Array(Buffer.from(body)), { headers }).formData();
}

function render(members: Partial<RequestTemplate>, input: Record<string, unknown> = {}) {
  const rendered = compileRequest(template(members))(input);
  assert.ok('request' in rendered, JSON.stringify(rendered));
  return rendered.request;
}

describe('a request template', () => {
  it('sends files and fields as a multipart body, the same for the same input', async () => {
    const members: Partial<RequestTemplate> = {
      method: 'POST',
      body_type: 'multipart',
      body: { to: '{to}', tags: '{tags}', gone: '{gone}', file: '{file}', more: '{more}' },
      files: { file: { filename: '{name}' }, more: { filename: 'more.txt', content_type: 'text/plain' } },
    };
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const input = {
      to: 'de',
      tags: ['a', 'é'],
      file: base64('\0\xff'),
      name: 'Grüße "1".bin',
      more: [base64('b'), ''],
    };
    const request = render(members, input);
    assert.deepEqual(render(members, input), request);
    const form = await readForm(request);
    assert.deepEqual([form.get('to'), form.getAll('tags'), form.has('gone')], ['de', ['a', 'é'], false]);
    const [file, ...more] = [...form.getAll('file'), ...form.getAll('more')];
    assert.ok(file instanceof File);
    assert.deepEqual([file.name, file.type], ['Grüße "1".bin', 'application/octet-stream']);
    assert.equal(await file.text(), '\0\xff');
    assert.deepEqual(
      more.map((one) => one instanceof File && [one.name, one.type]),
      [
        ['more.txt', 'text/plain'],
        ['more.txt', 'text/plain'],
      ],
    );
    // A null adds no file, and text that is not base64 is rejected.
    assert.deepEqual([...(await readForm(render(members, { file: null }))).keys()], []);
    assert.ok('rejected' in compileRequest(template(members))({ file: 'no base64!' }));
  });

  it('sends the bytes that base64 encodes', () => {
    const members: Partial<RequestTemplate> = { method: 'PUT', body_type: 'base64', body: '{file}' };
    const request = render({ ...members, headers: { 'Content-Type': 'image/png' } }, { file: 'iVBORw0KGgo=' });
    assert.deepEqual(Buffer.from(request.body ?? '').toString('hex'), '89504e470d0a1a0a');
    assert.equal(request.headers?.['content-type'], 'image/png');
    assert.ok('rejected' in compileRequest(template(members))({ file: { a: 1 } }));
  });

  it('fills path, query, headers and body, each with its own encoding', () => {
    const request = render(
      {
        method: 'POST',
        url: 'https://api.example.com/v1/{owner}/{repo}.git/{at}?format=json',
        query: {
          q: 'name:{q} in:{field}',
          tags: '{tags}',
          page: '{page}',
          fixed: 1,
          gone: '{gone}',
          nothing: '{none}',
        },
        headers: { 'X-Lang': '{lang}', 'X-Gone': '{gone}' },
        body: {
          text: '{q}',
          page: '{page}',
          on: true,
          list: ['{q}', '{gone}', 2],
          deep: { a: '{none}', b: '{gone}' },
          brace: '{{q} }',
        },
      },
      {
        owner: 'a/b',
        repo: 'ü?',
        at: [1.5, 2],
        q: 'x&y=z',
        field: 'title',
        tags: ['a b', 'c'],
        page: 2,
        lang: 'de',
        none: null,
      },
    );
    assert.equal(request.url, 'https://api.example.com/v1/a%2Fb/%C3%BC%3F.git/1.5%2C2?format=json');
    assert.deepEqual(request.query, [
      ['q', 'name:x&y=z in:title'],
      ['tags', 'a b'],
      ['tags', 'c'],
      ['page', '2'],
      ['fixed', '1'],
    ]);
    assert.deepEqual(request.headers, { 'content-type': 'application/json', 'x-lang': 'de' });
    assert.deepEqual(JSON.parse(String(request.body)), {
      text: 'x&y=z',
      page: 2,
      on: true,
      list: ['x&y=z', 2],
      deep: { a: null },
      brace: '{q} }',
    });
  });

  it('omits a text when all its placeholders are absent, and leaves a single absent one empty', () => {
    const query = { one: 'id:{a}', two: '{a}-{b}' };
    assert.deepEqual(render({ query }, { b: 1 }).query, [['two', '-1']]);
    assert.deepEqual(render({ query }, {}).query, []);
  });

  it('sends a form, a text and a JSON value with their own types', () => {
    const form = render(
      { method: 'POST', body_type: 'form', body: { a: '{a}', list: '{list}', gone: '{gone}' } },
      { a: 'x&b=1 ü', list: [1, 2] },
    );
    assert.equal(form.body, 'a=x%26b%3D1+%C3%BC&list=1&list=2');
    assert.equal(form.headers?.['content-type'], 'application/x-www-form-urlencoded');
    assert.equal(render({ method: 'POST', body: 'say {a}' }, { a: 'hi' }).body, 'say hi');
    assert.equal(render({ method: 'POST', body: '{a}' }, { a: [1] }).body, '[1]');
    assert.equal(render({ method: 'POST', body: '{gone}' }).body, undefined);
  });

  it('uses own members only and sets no prototype', () => {
    const input = JSON.parse('{"__proto__":{"polluted":1},"constructor":"c"}');
    const request = render({ method: 'POST', body: { a: '{toString}', b: '{constructor}', c: '{__proto__}' } }, input);
    assert.equal(request.body, '{"b":"c","c":{"polluted":1}}');
    assert.equal(({} as Record<string, unknown>).polluted, undefined); // true for any object if the prototype was changed
    assert.equal(render({ query: { a: '{constructor}' } }).query?.length, 0);
  });

  it('rejects an absent path segment, and one that is empty or consists of dots', () => {
    const renderPath = compileRequest(template({ url: 'https://api.example.com/v1/users/{id}/{a}{b}' }));
    for (const input of [
      { id: '..' },
      { id: '.' },
      { id: '' },
      { id: null },
      {},
      { id: [] },
      { id: 'x', a: '.', b: '.' },
      { id: 'x', a: null },
    ]) {
      assert.ok('rejected' in renderPath({ a: 'a', b: 'b', ...input }), JSON.stringify(input));
    }
    assert.ok('request' in renderPath({ id: '...', a: '.', b: 'x' }));
  });

  it('rejects a header value with a line break or beyond Latin-1', () => {
    const renderHeader = compileRequest(template({ headers: { 'X-A': 'a {a}' } }));
    for (const a of ['b\r\nX-B: c', 'b\nc', 'b\0', '☃']) assert.ok('rejected' in renderHeader({ a }), a);
  });

  it('cannot be compiled with a placeholder outside the path of its URL', () => {
    for (const url of 'https://{host}/a https://api.{x}.com/ https://api.example.com/a?b={c} https://a.com/#{b} https://u:{p}@a.com/ {url} ftp://a.com/'.split(
      ' ',
    )) {
      assert.throws(() => compileRequest(template({ url })), /request\.url/, url);
    }
  });
});

describe('a value of a parameter never', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      ...'.. . %2e%2e ../ ..\\ / //evil.com ?a=b #x &a=b ;a @evil.com \t \r\n {credential:key} %00 \ud800'.split(' '),
    ),
    fc.jsonValue(),
  );

  it('changes the scheme, host, port or path structure, or inserts a credential', () => {
    const run = compileRequest(
      template({ url: 'https://api.example.com:8443/v1/{a}/x{b}y/{c},{d}/end', query: { q: '{a}' } }),
    );
    fc.assert(
      fc.property(anything, anything, anything, anything, (a, b, c, d) => {
        const rendered = run({ a, b, c, d });
        if ('rejected' in rendered) return;
        const url = new URL(rendered.request.url);
        assert.equal(url.origin, 'https://api.example.com:8443');
        assert.equal(url.search + url.hash + url.username + url.password, '');
        const segments = url.pathname.split('/');
        assert.equal(segments.length, 6);
        assert.deepEqual([segments[1], segments[5]], ['v1', 'end']);
        assert.ok(segments[3]?.startsWith('x') && segments[3].endsWith('y'));
        assert.ok(!url.pathname.includes('%7Bcredential:'));
        assert.equal(`${url.origin}${url.pathname}`, rendered.request.url);
      }),
      { numRuns: 2000 },
    );
  });

  it('closes a part of a multipart body, or adds a part', async () => {
    const run = compileRequest(
      template({
        method: 'POST',
        body_type: 'multipart',
        body: { title: '{a}', file: '{b}' },
        files: { file: { filename: '{a}', content_type: 'image/png' } },
      }),
    );
    const text = fc.string({ unit: 'binary', maxLength: 30 });
    const bytes = fc.uint8Array({ maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, fc.constantFrom('"', '\r\n--x', '\r\n\r\nX: y')), bytes, async (a, b) => {
        const rendered = run({ a, b: Buffer.from(b).toString('base64') });
        assert.ok('request' in rendered);
        const form = await readForm(rendered.request);
        assert.deepEqual([...form.keys()], ['title', 'file']);
        assert.equal(form.get('title'), a.toWellFormed());
        const file = form.get('file');
        assert.ok(file instanceof File && file.type === 'image/png');
        assert.deepEqual(new Uint8Array(await file.arrayBuffer()), b);
      }),
      { numRuns: 500 },
    );
  });

  it('adds a name to the query, a header or a member of a form', () => {
    const run = compileRequest(
      template({
        method: 'POST',
        query: { q: '{a}', r: 'x{b}' },
        headers: { 'X-A': '{a}' },
        body_type: 'form',
        body: { f: '{a}' },
      }),
    );
    fc.assert(
      fc.property(anything, anything, (a, b) => {
        const rendered = run({ a, b });
        if ('rejected' in rendered) return;
        assert.ok(rendered.request.query?.every(([name]) => name === 'q' || name === 'r'));
        assert.ok([...new URLSearchParams(String(rendered.request.body)).keys()].every((name) => name === 'f'));
        assert.deepEqual(
          Object.keys(rendered.request.headers ?? {}).filter((name) => name !== 'content-type' && name !== 'x-a'),
          [],
        );
      }),
      { numRuns: 2000 },
    );
  });
});
