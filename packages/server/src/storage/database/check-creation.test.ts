import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCreation } from './check-creation.ts';

/** @param looks whether there is a store, at each look */
async function check(...looks: boolean[]): Promise<number> {
  let calls = 0;
  const beforeCreation = async () => {
    calls += 1;
    throw new Error('refused');
  };
  await checkCreation({ beforeCreation }, async () => looks.shift() ?? assert.fail());
  return calls;
}

test('a refusal stops the creation of a store, unless another process has created it meanwhile', async () => {
  await assert.rejects(check(false, false), /refused/);
  assert.equal(await check(false, true), 1);
  assert.equal(await check(true), 0);
});
