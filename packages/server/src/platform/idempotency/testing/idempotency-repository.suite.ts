import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { HeldClaim, IdempotencyRepository, NewClaim } from '../idempotency-repository.ts';

/** The id of a node that runs while the suite does. */
export const runningNode = 'running node';

/** Tests the behaviour of every repository of idempotency keys. Each project may store 30 bytes of answers. */
export function describeIdempotencyRepository(
  name: string,
  open: () => Promise<{ repository: IdempotencyRepository; release: () => Promise<void> }>,
): void {
  describe(`idempotency repository: ${name}`, () => {
    let repository: IdempotencyRepository;
    let release: () => Promise<void>;
    let count = 0;
    before(async () => {
      ({ repository, release } = await open());
    });
    after(() => release());

    const newClaim = (): NewClaim => ({
      projectId: 'projecta',
      operation: 'upload',
      key: `key ${count++}`,
      callerId: 'caller',
      heldUntil: 1000,
      nodeId: null,
      isRepeatable: true,
    });
    const answered = (claim: HeldClaim) => ({ ...claim, fingerprint: 'print', answer: '{"a":1}', expiresAt: 9000 });

    test('a key is claimed once, then running, then answered, then free again', async () => {
      const claim = newClaim();
      assert.deepEqual(await repository.claim(claim, 1), { kind: 'claimed' });
      assert.deepEqual(await repository.claim(claim, 1), { kind: 'running', elsewhere: false });
      assert.equal(await repository.complete(answered(claim)), true);
      assert.deepEqual(await repository.claim({ ...claim, heldUntil: 5000 }, 8999), { kind: 'answered' });
      assert.deepEqual(await repository.compare(claim, ['old', 'print'], 10), { kind: 'same', answer: '{"a":1}' });
      assert.deepEqual(await repository.claim({ ...claim, heldUntil: 10_000 }, 9000), { kind: 'claimed' });
      assert.deepEqual(await repository.claim({ ...claim, heldUntil: 10_000 }, 9000), {
        kind: 'running',
        elsewhere: false,
      });
    });

    test('ten wrong requests close an answer, also when they are concurrent', async () => {
      const claim = newClaim();
      await repository.claim(claim, 1);
      assert.deepEqual(await repository.compare(claim, ['print'], 10), { kind: 'forgotten' });
      await repository.complete(answered(claim));
      const guesses = Array.from({ length: 40 }, (_, n) => repository.compare(claim, [`guess ${n}`], 10));
      const kinds = (await Promise.all(guesses)).map(({ kind }) => kind);
      assert.equal(kinds.filter((kind) => kind === 'other').length, 10);
      assert.equal(kinds.filter((kind) => kind === 'closed').length, 30);
      assert.deepEqual(await repository.compare(claim, ['print'], 10), { kind: 'closed' });
      const later = { ...claim, heldUntil: 10_000 };
      assert.deepEqual(await repository.claim(later, 9000), { kind: 'claimed' });
      await repository.complete(answered(later));
      assert.equal(
        (await repository.compare(claim, ['print'], 10)).kind,
        'same',
        'a new answer has a new count of guesses',
      );
    });

    test('operation, project and caller are part of the key, so that the answers of callers are independent', async () => {
      const claim = newClaim();
      const others = [
        { ...claim, operation: 'execute' },
        { ...claim, projectId: 'projectb' },
        { ...claim, callerId: 'another caller' },
        { ...claim, callerId: '' },
      ] as const;
      for (const own of [claim, ...others]) assert.equal((await repository.claim(own, 1)).kind, 'claimed');
      assert.equal(await repository.renew({ ...claim, callerId: '' }, 2000), true);
      await repository.complete(answered(claim));
      for (const other of others) assert.equal((await repository.compare(other, ['print'], 10)).kind, 'forgotten');
      const [, , another = claim] = others;
      assert.equal(await repository.complete({ ...answered(another), answer: '"other"' }), true);
      for (let n = 0; n < 11; n++) await repository.compare(another, ['guess'], 10);
      assert.equal((await repository.compare(another, ['print'], 10)).kind, 'closed');
      assert.deepEqual(await repository.compare(claim, ['print'], 10), { kind: 'same', answer: '{"a":1}' });
      await repository.release({ ...claim, callerId: '', heldUntil: 2000 });
      assert.equal((await repository.claim({ ...claim, callerId: '' }, 1)).kind, 'claimed');
    });

    test('a claim of a node that runs is kept, and one of a node without a row is replaced at once', async () => {
      const claim = { ...newClaim(), nodeId: runningNode };
      assert.equal((await repository.claim(claim, 1)).kind, 'claimed');
      assert.deepEqual(await repository.claim(claim, 1), { kind: 'running', elsewhere: false });
      const other = { ...claim, nodeId: 'other' };
      assert.deepEqual(await repository.claim(other, 1), { kind: 'running', elsewhere: true });
      const ofEnded = { ...newClaim(), nodeId: 'ended' };
      assert.equal((await repository.claim(ofEnded, 1)).kind, 'claimed');
      const next = { ...ofEnded, nodeId: runningNode, heldUntil: 1001 };
      assert.equal((await repository.claim(next, 1)).kind, 'claimed');
      assert.equal(await repository.complete(answered(ofEnded)), false, 'the former claim is lost');
      assert.equal(await repository.complete(answered(next)), true);
    });

    test('a request that cannot be repeated is never claimed again for a day, and its late answer is stored', async () => {
      const day = 24 * 3_600_000;
      for (const nodeId of [null, 'ended', runningNode]) {
        const claim = { ...newClaim(), nodeId, isRepeatable: false };
        assert.equal((await repository.claim(claim, 1)).kind, 'claimed');
        const early = nodeId === 'ended' ? { kind: 'unknown' } : { kind: 'running', elsewhere: nodeId !== null };
        assert.deepEqual(await repository.claim({ ...claim, nodeId: 'other' }, 1), early);
        await repository.sweep(day);
        assert.deepEqual(await repository.claim({ ...claim, heldUntil: 3000 }, 2000), { kind: 'unknown' });
        assert.equal(await repository.complete(answered(claim)), true);
        assert.equal((await repository.claim(claim, 2000)).kind, 'answered');
      }
      const old = { ...newClaim(), isRepeatable: false };
      await repository.claim(old, 1);
      assert.equal((await repository.claim({ ...old, heldUntil: day + 2000 }, day + 1000)).kind, 'claimed');
      await repository.sweep(2 * day + 2000);
      await repository.release({ ...old, heldUntil: day + 2000 });
    });

    test('one of many concurrent claims succeeds', async () => {
      const claim = newClaim();
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => repository.claim(claim, 1)));
      assert.equal(outcomes.filter((outcome) => outcome.kind === 'claimed').length, 1);
      assert.equal(outcomes.filter((outcome) => outcome.kind === 'running').length, 19);
    });

    test('a renewed claim stays valid; an expired claim can be replaced, and its owner then has no effect', async () => {
      const claim = newClaim();
      await repository.claim(claim, 1);
      assert.equal(await repository.renew(claim, 2000), true);
      assert.deepEqual(await repository.claim({ ...claim, heldUntil: 3000 }, 1500), {
        kind: 'running',
        elsewhere: false,
      });
      const replacement = { ...claim, heldUntil: 4000 };
      assert.deepEqual(await repository.claim(replacement, 2000), { kind: 'claimed' });
      const late = { ...claim, heldUntil: 2000 };
      assert.equal(await repository.renew(late, 5000), false);
      assert.equal(await repository.complete(answered(late)), false);
      await repository.release(late);
      assert.deepEqual(await repository.claim({ ...claim, heldUntil: 3500 }, 2500), {
        kind: 'running',
        elsewhere: false,
      });
      assert.equal(await repository.complete(answered(replacement)), true);
    });

    test('a claim further in the future than a lease is void; an answer with that expiry stays', async () => {
      const ahead = { ...newClaim(), heldUntil: 1_000_000 };
      await repository.claim(ahead, 999_000);
      // A lease within twice its length is valid, because the clocks of two processes may differ slightly.
      const soon = { ...ahead, heldUntil: 999_500 };
      assert.deepEqual(await repository.claim(soon, 998_500), { kind: 'running', elsewhere: false });
      const claim = { ...ahead, heldUntil: 2000 };
      assert.deepEqual(await repository.claim(claim, 1000), { kind: 'claimed' });
      assert.equal(await repository.renew(ahead, 1_001_000), false);
      assert.equal(await repository.complete({ ...answered(claim), expiresAt: 1_000_000 }), true);
      assert.equal((await repository.claim({ ...claim, heldUntil: 2500 }, 1500)).kind, 'answered');
    });

    test('a released key is free; an answer is not released', async () => {
      const claim = newClaim();
      await repository.claim(claim, 1);
      await repository.release(claim);
      assert.deepEqual(await repository.claim(claim, 1), { kind: 'claimed' });
      await repository.complete(answered(claim));
      await repository.release(claim);
      await repository.release({ ...claim, heldUntil: 9000 });
      assert.equal((await repository.claim(claim, 1)).kind, 'answered');
    });

    test('the limit kept_answers_of_project keeps an answer at the bound and not one more byte', async () => {
      const keep = async (projectId: string, bytes: number, instead = '"not kept"') => {
        const claim = { ...newClaim(), projectId, operation: 'execute' as const };
        await repository.claim(claim, 1);
        const completed = { ...answered(claim), answer: `"${'x'.repeat(bytes - 2)}"`, insteadOfAnswer: instead };
        assert.equal(await repository.complete(completed), true);
        const compared = await repository.compare(claim, ['print'], 10);
        return { claim, isKept: compared.kind === 'same' && compared.answer !== instead };
      };
      const first = await keep('full', 20);
      assert.equal((await keep('full', 11, '""')).isKept, false, 'one byte above');
      assert.equal((await keep('full', 8)).isKept, true, 'at the bound, with the 2 bytes stored instead');
      assert.equal((await keep('full', 2, '0')).isKept, false);
      assert.equal((await keep('other', 30)).isKept, true, 'each project has its own bytes');
      await repository.claim({ ...first.claim, heldUntil: 10_000 }, 9000);
      await repository.release({ ...first.claim, heldUntil: 10_000 });
      assert.equal((await keep('full', 20)).isKept, false, 'above by the byte stored instead');
      assert.ok((await repository.sweep(9000)) >= 5);
      const many = await Promise.all(Array.from({ length: 20 }, () => keep('full', 10, '""')));
      assert.equal(many.filter(({ isKept }) => isKept).length, 3);
      await repository.sweep(9000);
      assert.equal((await keep('full', 31)).isKept, false);
      await repository.sweep(9000);
      assert.equal((await keep('full', 30)).isKept, true, 'all bytes were given back');
    });

    test('a sweep deletes only expired rows', async () => {
      const [old, young] = [newClaim(), newClaim()];
      await repository.claim({ ...old, heldUntil: 50 }, 1);
      await repository.claim({ ...young, heldUntil: 51 }, 1);
      assert.equal(await repository.sweep(50), 1);
      assert.equal((await repository.claim(old, 1)).kind, 'claimed');
      assert.equal((await repository.claim(young, 1)).kind, 'running');
    });
  });
}
