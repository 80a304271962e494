import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readYaml } from './read-yaml.ts';

function errorsIn(text: string): readonly string[] {
  const read = readYaml(text);
  return 'errors' in read ? read.errors.map(({ line, message }) => `${line}: ${message}`) : [];
}

test('a duplicate name is reported at its second place, whatever the type of its text', () => {
  assert.deepEqual(errorsIn('a: 1\nb: {c: 1,\n c: 2}\na: 2\n'), [
    '4: Map keys must be unique',
    '3: Map keys must be unique',
  ]);
  assert.deepEqual(errorsIn('1: a\n"1": b\n'), ['2: Map keys must be unique']);
  assert.deepEqual(errorsIn('1: a\n2: b\n'), []);
});

test('a key that JSON does not allow is refused', () => {
  for (const text of ['? [a, b]\n: 1\n', '? {a: b}\n: 1\n', 'a: &x b\n? *x\n: 1\n', '~: 1\n', ': 1\n']) {
    assert.deepEqual(
      errorsIn(text).map((line) => line.slice(3)),
      ['Property names must be strings.'],
      text,
    );
  }
});

/** Measures the processor time of this process, which other work on the machine does not affect. */
function processorTimeOf(read: () => unknown): number {
  const before = process.cpuUsage();
  read();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

test('the cost of many names and errors grows linearly with their number', () => {
  const count = 25_000;
  const items = Array.from({ length: count }, (_, at) => `- a${at}\n`).join('');
  const hostile = {
    names: Array.from({ length: count }, (_, at) => `a${at}: 1\n`).join(''),
    errors: `[${'? '.repeat(4 * count)}`,
  };
  readYaml(items);
  const usual = processorTimeOf(() => readYaml(items));
  for (const [what, text] of Object.entries(hostile)) {
    const milliseconds = processorTimeOf(() => readYaml(text));
    assert.ok(milliseconds < 12 * usual, `${what}: ${Math.round(milliseconds / usual)} times as much`);
  }
});
