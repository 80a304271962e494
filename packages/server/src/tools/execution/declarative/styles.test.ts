import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParameterStyle, RequestTemplate } from '@quartermaster/plugin-kit';
import { compileRequest } from './request.ts';

const list = [1, 'b c', null, true];
const object = { a: 1, b: 'x y', c: null };

function send(template: Omit<RequestTemplate, 'method'>, input: Record<string, unknown>) {
  const rendered = compileRequest({ method: 'POST', ...template })(input);
  assert.ok('request' in rendered, JSON.stringify(rendered));
  return rendered.request;
}

/** Each row: the style and the value ⇒ what the query and the form contain. */
const inQuery = [
  'no style list ⇒ p=1&p=b c&p=true',
  'no style object ⇒ p={"a":1,"b":"x y","c":null}',
  'repeat list ⇒ p=1&p=b c&p=true',
  'comma list ⇒ p=1,b c,true',
  'space list ⇒ p=1 b c true',
  'pipe list ⇒ p=1|b c|true',
  'comma object ⇒ p=a,1,b,x y',
  'members object ⇒ a=1&b=x y',
  'pairs object ⇒ p=a=1,b=x y',
  'json list ⇒ p=[1,"b c",null,true]',
  'deep_object deep ⇒ p[a][b]=1&p[a][b]=2',
  'comma none ⇒ ',
  'no style empty ⇒ ',
  'comma number ⇒ p=5',
];
const values = { list, object, deep: { a: { b: [1, 2] }, c: null }, none: [], empty: {}, number: 5 };

for (const row of inQuery) {
  test(`a value is written into a query and into a form as declared: ${row}`, () => {
    const [, name = '', kind = '', text = ''] = /^(no style|\w+) (\w+) ⇒ (.*)$/.exec(row) ?? [];
    const [style, value] = [name as ParameterStyle, values[kind as keyof typeof values]];
    const styles = name === 'no style' ? {} : { query: { p: style }, form: { p: style } };
    const pairs = text === '' ? [] : text.split('&').map((pair) => pair.split(/=(.*)/).slice(0, 2));
    const sent = send(
      { url: 'https://a.b/', query: { p: '{p}' }, body: { p: '{p}' }, body_type: 'form', styles },
      { p: value },
    );
    assert.deepEqual(sent.query, pairs);
    assert.deepEqual([...new URLSearchParams(String(sent.body))], pairs);
  });
}

test('paths, headers and cookies contain one text', () => {
  const template = {
    url: 'https://a.b/x/{list}/{object}',
    headers: { 'X-List': '{list}', 'X-Object': '{object}' },
    cookies: { list: '{list}', gone: '{gone}' },
    styles: { path: { object: 'pairs' }, headers: { 'X-Object': 'comma' }, cookies: { list: 'pipe' } },
  } as const;
  const { url, headers } = send(template, { list, object });
  assert.equal(url, 'https://a.b/x/1%2Cb%20c%2C%2Ctrue/a%3D1%2Cb%3Dx%20y');
  assert.deepEqual(headers, { 'x-list': '1,b c,,true', 'x-object': 'a,1,b,x y', cookie: 'list=1%7Cb%20c%7Ctrue' });
});

test('without a cookie in the input, no cookie is sent', () => {
  assert.deepEqual(send({ url: 'https://a.b/', cookies: { a: '{a}' } }, {}).headers, {});
});

test('a body declared as JSON is encoded as JSON, even if it is a text', () => {
  const { body, headers } = send({ url: 'https://a.b/', body: '{a}', body_type: 'json' }, { a: 'x' });
  assert.deepEqual([body, headers], ['"x"', { 'content-type': 'application/json' }]);
  assert.equal(send({ url: 'https://a.b/', body: '{a}' }, { a: 'x' }).body, 'x');
});
