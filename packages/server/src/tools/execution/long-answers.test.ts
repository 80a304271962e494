import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBench } from './testing/execution.suite.ts';

/** The longest text that the event loop parses itself. */
const longest = 64 * 1024;

test('a long response of an upstream is not parsed on the event loop, and gives the same output', async (t) => {
  const rest = `"rest":[${'{"a":1},'.repeat(11_000)}{}]`;
  const { execute } = await openBench(t, (_request, response) => response.end(`{"said":"hi",${rest}}`));
  const parse = t.mock.method(JSON, 'parse');
  const { status, body } = await execute({ plugin_id: 'say' });
  assert.deepEqual([status, body.data.data.said], [200, 'hi']);
  const parsed = parse.mock.calls.map(({ arguments: [text] }) => String(text).length);
  assert.deepEqual(
    parsed.filter((length) => length > longest),
    [],
  );
});

test('long responses that cannot be read fail their run only, and those of other types give notes, as short ones do', async (t) => {
  const blanks = ' '.repeat(90_000);
  const bodies = { wrong: `<${blanks}`, sum: `${blanks}{"said":"no numbers"}`, say: `${blanks}{"error":"no luck"}` };
  for (const [body, message] of [
    [bodies.say, /no luck/],
    [bodies.wrong, /the answer is not JSON/],
  ] as const) {
    const { execute } = await openBench(t, (_request, response) => response.end(body));
    assert.match((await execute({ plugin_id: 'say' })).body.error.message, message);
  }
  const { execute } = await openBench(t, (_request, response) => response.end(bodies.sum));
  const { data } = (await execute({ plugin_id: 'sum' })).body;
  assert.deepEqual([data.data, data.output_violations[0].expected], [null, 'what sum() accepts']);
});

test('concurrent long responses are read sequentially', async (t) => {
  const { execute } = await openBench(t, (request, response) => {
    const number = new URL(request.url ?? '', 'http://localhost').searchParams.get('q');
    response.end(`${' '.repeat(90_000)}{"said":"${number}"}`);
  });
  const numbers = Array.from({ length: 8 }, (_, index) => String(index));
  const answers = await Promise.all(numbers.map((q) => execute({ plugin_id: 'say', input_params: { q } })));
  assert.deepEqual(
    answers.map(({ body }) => body.data.data.said),
    numbers,
  );
});
