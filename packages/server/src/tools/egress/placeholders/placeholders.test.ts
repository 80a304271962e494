import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import type { EgressRequest } from '../../../platform/outbound.ts';
import { apiOrigin } from '../testing/broker.suite.ts';
import { holdPlaceholder, otherOrigin, secret, textOf } from '../testing/placeholders.suite.ts';
import { createPlaceholder, createPlaceholderFinder } from './placeholders.ts';
import type { CredentialPlace } from './request-parts.ts';

const each = (text: string, write: (code: number, at: number) => string) =>
  [...text].map((letter, at) => write(letter.charCodeAt(0), at)).join('');
const hex = (code: number) => code.toString(16);
const base64 = (text: string, offset: number) => Buffer.from(`${'.'.repeat(offset)}${text}:`).toString('base64');

/** The ways in which a hostile handler may write a placeholder. */
const encodings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'URL-encoded': (text) => each(text, (code, at) => `%${at % 2 === 0 ? hex(code) : hex(code).toUpperCase()}`),
  'URL-encoded in part': (text) =>
    each(text, (code, at) => (at % 3 === 0 ? `%${hex(code)}` : String.fromCharCode(code))),
  'URL-encoded twice': (text) => each(text, (code) => `%25${hex(code)}`),
  'JSON-escaped': (text) => each(text, (code) => `\\u00${hex(code)}`),
  'JSON-escaped in part': (text) =>
    text
      .replace('q', '\\u0071')
      .replace('h', '\\u{68}')
      .replace(text[9] ?? '', '\\x61'),
  'with decimal entities': (text) => each(text, (code) => `&#${code};`),
  'with hexadecimal entities': (text) => each(text, (code) => `&#x${hex(code)};`),
  'base64 at 0': (text) => base64(text, 0),
  'base64 at 1': (text) => base64(text, 1),
  'base64url at 2': (text) => base64(text, 2).replaceAll('=', ''),
  hexadecimal: (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'in capitals': (text) => text.toUpperCase(),
  reversed: (text) => [...text].reverse().join(''),
  'reversed base64': (text) => base64([...text].reverse().join(''), 1),
  'a JSON array of letters': (text) => JSON.stringify([...text]),
  'a sum of strings': (text) => `"${text.slice(0, 7)}" + "${text.slice(7)}"`,
  'the first part': (text) => text.slice(0, 14),
  'the last part': (text) => text.slice(20),
  'with zero bytes between': (text) => each(text, (code) => `${String.fromCharCode(code)}%00`),
};

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };
const declared: readonly CredentialPlace[] = [
  { in: 'header', name: 'authorization' },
  { in: 'header', name: 'x-key' },
  { in: 'query', name: 'key' },
  { in: 'form', name: 'token' },
  { in: 'path', prefix: '/bot' },
];

const inPath = (text: string) => encodeURI(text).replaceAll('#', '%23');
/** Keeps the escapes of the text. */
const inQuery = (text: string) => text.replaceAll('&', '%26').replaceAll('#', '%23');

/** The parts of a request, each with a text in it. */
const places: Readonly<Record<string, (text: string) => Partial<EgressRequest>>> = {
  'a declared header': (text) => ({ headers: { 'x-key': `Key ${text}` } }),
  'basic authentication': (text) => ({
    headers: { authorization: `Basic ${Buffer.from(`me:${text}`).toString('base64')}` },
  }),
  'a declared member of the query': (text) => ({ url: `${apiOrigin}/?a=1&key=${inQuery(text)}` }),
  'a declared member of a form': (text) => ({
    ...{ method: 'POST', headers: form },
    body: `a=1&token=${inQuery(text)}`,
  }),
  'a declared segment of the path': (text) => ({ url: `${apiOrigin}/bot${inPath(text)}/send` }),
  'another header': (text) => ({ headers: { 'x-note': text } }),
  'the method': (text) => ({ method: text }),
  'the path': (text) => ({ url: `${apiOrigin}/rooms/${inPath(text)}` }),
  'another member of the query': (text) => ({ query: [['text', text]] }),
  'a name in the query': (text) => ({ query: [[text, 'key']] }),
  'another member of a form': (text) => ({
    method: 'POST',
    headers: form,
    body: `token=1&text=${encodeURIComponent(text)}`,
  }),
  'a name in a form': (text) => ({ method: 'POST', headers: form, body: `${encodeURIComponent(text)}=token` }),
  'a JSON body': (text) => ({ method: 'POST', headers: json, body: JSON.stringify({ token: text }) }),
  'a plain body': (text) => ({ method: 'POST', body: `Look: ${text}!` }),
  'a binary body': (text) => ({ method: 'PUT', body: Buffer.from(`\x00\xff${text}\x00`, 'latin1') }),
  'a part of a multipart body': (text) => ({
    ...{ method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=b' } },
    body: `--b\r\nContent-Disposition: form-data; name="token"\r\n\r\n${text}\r\n--b--\r\n`,
  }),
};

/** What the server gets from the replaced ones, where the place has an encoding. */
const replaced = new Map([
  ['a declared header, plain', `"x-key":"Key ${secret}"`],
  ['basic authentication, plain', Buffer.from(`me:${secret}`).toString('base64')],
  ['a declared segment of the path, plain', `/bot${encodeURIComponent(secret)}/send`],
]);
for (const encoding of ['plain', 'URL-encoded', 'URL-encoded in part']) {
  replaced.set(`a declared member of the query, ${encoding}`, `/?a=1&key=${encodeURIComponent(secret)}`);
  replaced.set(`a declared member of a form, ${encoding}`, `\na=1&token=${encodeURIComponent(secret)}`);
}

test('a placeholder is replaced in declared places, and refused in every other place and encoding', async (t) => {
  const { placeholder, received, send } = await holdPlaceholder(t, { places: declared });
  const wrong: string[] = [];
  for (const [place, requestWith] of Object.entries(places)) {
    for (const [encoding, encode] of Object.entries(encodings)) {
      const name = `${place}, ${encoding}`;
      const before = received.length;
      const result = await send(requestWith(encode(placeholder)));
      const sent = received.slice(before).map(textOf).join();
      const expected = replaced.get(name);
      if (expected === undefined) {
        if (result.kind !== 'refused' || sent !== '')
          wrong.push(`${name}: ${JSON.stringify(result).slice(0, 99)} ${sent}`);
      } else if (!sent.includes(expected) || sent.includes(placeholder)) wrong.push(`${name}: ${sent}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.equal(received.length, replaced.size);
});

test('a placeholder is sent to no host that may not get credentials, and the refusal names what would allow it', async (t) => {
  const { placeholder, received, send } = await holdPlaceholder(t, { places: declared });
  const messages: unknown[] = [];
  const requests: readonly Partial<EgressRequest>[] = [
    { url: otherOrigin, headers: { authorization: `Bearer ${placeholder}` } },
    { headers: { 'x-other': placeholder } },
    { query: [['$(id)', placeholder]] },
    { method: 'POST', body: placeholder },
    { headers: { 'x-key': [...placeholder].reverse().join('') } },
    { url: `https://${placeholder}.evil.example/` },
  ];
  for (const request of requests) {
    const result = await send(request);
    messages.push('message' in result ? result.message.replace(placeholder, 'PLACEHOLDER') : result);
  }
  const is = 'the placeholder of a credential is in';
  const run = 'to allow this, run: quartermaster bundle update piece_chat';
  assert.deepEqual(messages, [
    `${is} the header "authorization", and files.example.com may not get credentials; ${run} --add-credential-hosts files.example.com`,
    `${is} the header "x-other", which is no place of credentials; ${run} --add-places header:x-other`,
    `${is} "$(id)" in the query, which is no place of credentials; ${run} --add-places query:NAME`,
    `${is} the body, where no credential can be sent: only in headers, members of the query or of a form, and the path`,
    `${is} the header "x-key", encoded, reversed or cut, so that it cannot be replaced`,
    `the host "PLACEHOLDER.evil.example" is not one the bundle declares`,
  ]);
  assert.equal(received.length, 0);
  assert.equal((await send({ url: otherOrigin })).kind, 'response');
});

test('a form that is also JSON does not carry the secret into a member of the JSON', async (t) => {
  const { placeholder, received, send } = await holdPlaceholder(t, { places: declared });
  await send({ method: 'POST', headers: form, body: `{"text":"&token=${placeholder}&a":"b c"}` });
  assert.equal(received[0]?.body, `%7B%22text%22%3A%22=&token=${encodeURIComponent(secret)}&a%22%3A%22b%20c%22%7D=`);
});

test('redirects and retries replace again, and drop credentials for a host that may not get them', async (t) => {
  let answers = 0;
  const { placeholder, received, send } = await holdPlaceholder(t, {
    places: declared,
    answer: ({ url }) => {
      answers += 1;
      if (answers === 1) return { status: 503, headers: { 'retry-after': '0' } };
      if (url === '/') return { status: 307, headers: { location: '/next' } };
      if (url === '/next') return { status: 302, headers: { location: `${otherOrigin}/file` } };
      if (url === '/leak')
        return { status: 302, headers: { location: `${otherOrigin}/?t=${encodeURIComponent(secret)}` } };
      return { body: 'file' };
    },
  });
  const result = await send({ headers: { 'x-key': placeholder, 'x-note': 'hello' } });
  assert.equal(result.kind === 'response' && `${result.body} ${result.finalUrl}`, `file ${otherOrigin}/file`);
  const keys = received.map(({ url, headers }) => [url, headers['x-key'], headers['x-note']].join(' '));
  assert.deepEqual(keys, [`/ ${secret} hello`, `/ ${secret} hello`, `/next ${secret} hello`, '/file  hello']);
  assert.equal((await send({ url: `${apiOrigin}/leak` })).kind, 'refused');
  assert.equal(received.length, 5);
});

test('an answer that echoes the request does not show the secret', async (t) => {
  const { placeholder, send } = await holdPlaceholder(t, {
    places: declared,
    answer: ({ headers }) => ({ headers: { 'x-echo': String(headers['x-key']) }, body: JSON.stringify(headers) }),
  });
  const authorization = `Basic ${Buffer.from(`me:${placeholder}`).toString('base64')}`;
  const result = await send({ headers: { authorization, 'x-key': placeholder } });
  assert.ok(result.kind === 'response');
  const text = `${JSON.stringify(result.headers)} ${result.body}`;
  assert.equal(text.match(/\[redacted\]/g)?.length, 3);
  assert.ok(!text.includes(secret.slice(5, 15)));
});

test('a body that cannot be searched is refused', async (t) => {
  const { placeholder, received, send } = await holdPlaceholder(t, { places: declared });
  const large = Buffer.alloc(1024 * 1024 + 1, 0x61);
  const put = (body: string | Uint8Array, headers = {}) =>
    send({ method: 'PUT', headers, body }).then(({ kind }) => kind);
  assert.equal(await put('text', { 'content-encoding': 'gzip' }), 'refused');
  assert.equal(await put(gzipSync(placeholder)), 'refused');
  assert.equal(await put(zstdCompressSync(placeholder)), 'refused');
  assert.equal(await put(large.toString()), 'refused');
  assert.equal(await put(large, json), 'refused');
  assert.equal(await put(Buffer.concat([large, Buffer.from(base64(placeholder, 1))])), 'refused');
  assert.equal(await put('a&'.repeat(2000) + placeholder, form), 'refused');
  assert.equal(received.length, 0);
  assert.equal(await put(large, { 'content-type': 'image/png' }), 'response');
});

test('the finder sees a placeholder at every alignment, and none in other content', () => {
  const placeholder = createPlaceholder();
  const finder = createPlaceholderFinder([placeholder]);
  const around = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(around, around, fc.integer({ min: 0, max: 24 }), fc.boolean(), (before, after, from, isReversed) => {
      const part = placeholder.slice(from, from + 12);
      const text = isReversed ? [...part].reverse().join('') : part;
      const bytes = Buffer.concat([before, Buffer.from(text), after]);
      assert.ok(finder.isIn(bytes.toString('base64')));
      assert.ok(finder.isIn(`"${bytes.toString('base64url')}"`));
      assert.ok(finder.isIn(bytes.toString('hex')));
      assert.ok(finder.isIn(encodeURIComponent(text)));
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), fc.uint8Array(), fc.json()), (other) => !finder.isIn(other)),
  );
  assert.match(placeholder, /^qmph[a-z2-7]{32}$/);
  assert.notEqual(placeholder, createPlaceholder());
});
