import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseXml } from './xml-tree.ts';

test('the parser stops at the first XML element that is nested too deeply', () => {
  // Three million elements would take a parser hours without the limit.
  assert.deepEqual(parseXml('<a>'.repeat(3_000_000)), { wrong: 'nested deeper than 100' });
  assert.deepEqual(parseXml(`<a>${'<b/>'.repeat(2_000_000)}</a>`), { wrong: 'more than 200000 elements' });
  const attributes = (count: number) => `<a ${Array.from({ length: count }, (_, at) => `b${at}=""`).join(' ')}/>`;
  assert.deepEqual(parseXml(attributes(200_001)), { wrong: 'more than 200000 attributes' });
  assert.ok('root' in parseXml(attributes(200_000)));
});

test('XML within the limits becomes a tree', () => {
  const parsed = parseXml(`${'<a>'.repeat(99)}<b c="1">text</b>${'</a>'.repeat(99)}`);
  assert.ok('root' in parsed);
  assert.ok('wrong' in parseXml('<a><b></a>'));
});
