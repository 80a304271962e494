import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { keyless } from '../../platform/admission/owner.ts';
import { Problem } from '../../platform/problem.ts';
import { createRunAdmission } from './run-admission.ts';

const by = (keyId: string) => ({ projectId: 'p', keyId });

test('a key has a limited number of concurrent runs, other keys are not affected, and an ended run frees its place', async () => {
  const admission = createRunAdmission(2, createAdmission());
  const ends: Array<() => void> = [];
  const endless = () => new Promise<void>((resolve) => ends.push(resolve));
  const running = [admission.admit(by('a'), endless), admission.admit(by('a'), endless)];
  const isRefusal = (error: unknown) =>
    error instanceof Problem && error.code === 'TOO_MANY_REQUESTS' && Number(error.headers['Retry-After']) > 0;
  await assert.rejects(
    admission.admit(by('a'), async () => 'admitted'),
    isRefusal,
  );
  assert.equal(await admission.admit(by('b'), async () => 'well'), 'well');
  assert.equal(await admission.admit(keyless, async () => 'well'), 'well');
  ends[0]?.();
  await running[0];
  await assert.rejects(
    admission.admit(by('a'), () => Promise.reject(new Error('no'))),
    /^Error: no$/,
  );
  assert.equal(await admission.admit(by('a'), async () => 'well'), 'well');
  ends[1]?.();
  await running[1];
});

test('the limit runs_of_key accepts exactly as many runs of a key at once and refuses one more', async () => {
  const most = 3;
  const admission = createRunAdmission(most, createAdmission());
  const end = Promise.withResolvers<void>();
  const running = Array.from({ length: most }, () => admission.admit(by('a'), () => end.promise));
  await assert.rejects(
    admission.admit(by('a'), async () => 'admitted'),
    (error) => error instanceof Problem && error.code === 'TOO_MANY_REQUESTS',
  );
  end.resolve();
  await Promise.all(running);
});
