import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonSize } from './json-size.ts';

test('the size of a value is the length of its JSON text in UTF-8', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (generated) => {
      const text = JSON.stringify(generated);
      assert.equal(jsonSize(JSON.parse(text), Number.POSITIVE_INFINITY), Buffer.byteLength(text));
    }),
  );
});

test('a size above the limit is reported as above it, and one at the limit exactly', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(200), (generated, limit) => {
      const size = Buffer.byteLength(JSON.stringify(generated));
      const counted = jsonSize(JSON.parse(JSON.stringify(generated)), limit);
      if (size <= limit) assert.equal(counted, size);
      else assert.ok(counted > limit, `${counted}`);
    }),
  );
});

test('counting ends at the limit, however large or deep the value is', () => {
  let reads = 0;
  const counted = new Proxy(
    Array.from({ length: 100_000 }, () => ''),
    {
      get: (target, name, receiver) => {
        reads += 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  assert.ok(jsonSize({ a: counted }, 1000) > 1000);
  assert.ok(reads < 10, `${reads} reads`);
  let deep: unknown = 1;
  for (let level = 0; level < 200_000; level += 1) deep = [deep];
  assert.ok(jsonSize(deep, 1000) > 1000);
  assert.equal(jsonSize(deep, 1_000_000), 400_001);
});
