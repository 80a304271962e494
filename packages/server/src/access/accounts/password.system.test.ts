import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { queues } from '../../platform/admission/queues.ts';
import { Problem } from '../../platform/problem.ts';
import { createPasswordSemaphore } from './accounts.ts';
import { hashPassword, isOutdated, isPassword } from './password.ts';
import { checkPassword, guessesOf } from './password-policy.ts';

test('a password is stored as salted argon2id with the parameters of OWASP, and compared completely', async () => {
  const password = `correct ${'long '.repeat(40)}horse`;
  const [stored, other] = await Promise.all([hashPassword(password), hashPassword(password)]);
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(stored, other);
  assert.ok(await isPassword(password, stored));
  assert.ok(!(await isPassword(`${password}r`, stored)));
  assert.ok(!(await isPassword(password.slice(0, 72), stored)), 'nothing is cut off');
  assert.ok(await isPassword('\u00e9t\u00e9 indien au jardin', await hashPassword('e\u0301te\u0301 indien au jardin')));
});

test('a hash with other parameters still verifies, and is reported as outdated', async () => {
  const options = { message: 'old password', nonce: Buffer.alloc(16, 1), parallelism: 1, tagLength: 32 };
  const tag = argon2Sync('argon2id', { ...options, memory: 8192, passes: 1 });
  const plain = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const stored = `$argon2id$v=19$m=8192,t=1,p=1$${plain(options.nonce)}$${plain(tag)}`;
  assert.ok(await isPassword('old password', stored));
  assert.ok(isOutdated(stored));
  assert.ok(!isOutdated(await hashPassword('new password')));
  await assert.rejects(isPassword('x', 'plain text'));
});

test('at most two hashes are computed at the same time, and requests beyond the queue are refused', async () => {
  const semaphore = createPasswordSemaphore(createAdmission());
  let working = 0;
  let most = 0;
  const guard = Promise.withResolvers<void>();
  const work = async () => {
    most = Math.max(most, ++working);
    await guard.promise;
    working--;
  };
  const all = Array.from({ length: 2 + queues.passwords.waiting + 3 }, () => semaphore.run(work, 'address'));
  guard.resolve();
  const ends = await Promise.allSettled(all);
  assert.equal(most, 2);
  const refused = ends.filter((end) => end.status === 'rejected');
  assert.equal(refused.length, 3);
  assert.ok(refused.every(({ reason }) => reason instanceof Problem && reason.code === 'TOO_MANY_REQUESTS'));
  await semaphore.run(async () => undefined);
});

const good = [
  'seven otters paint slowly',
  'Tr0ub4dor&3xkcd!',
  'x7#kQ9!mZ2pL4',
  'aaa bbb ccc nine herons',
  '正確的馬電池訂書釘走路看海',
  'пароль для консоли цапля',
  'a'.repeat(10) + 'heron tide marsh reed '.repeat(11),
  ' spaces at both ends ',
  'purple lantern walks seventeen rivers',
  'drei graue enten lesen zeitung',
  '我的猫喜欢在月光下跳舞吃鱼',
  '7hq2-bv0p-xx31',
];
for (const password of good) {
  test(`accepts ${JSON.stringify(password.slice(0, 40))} of ${password.length} characters as a password`, async () => {
    await checkPassword(password, 'Ada');
  });
}

const bad = [
  ['short one', 'eleven char'],
  ['an endless one', 'heron tide marsh '.repeat(16)],
  ['one letter', 'aaaaaaaaaaaaaaaa'],
  ['two letters', 'abababababababab'],
  ['a common word with digits', 'Password123456'],
  ['a common word in leet', 'P@ssw0rd!!!!1234'],
  ['two common words', 'AdminPassword2026!'],
  ['a common word twice', 'dragondragon1'],
  ['a row of the keyboard', 'qwertyuiop12'],
  ['rows of the keyboard', 'qwertyuiopasdfghjkl'],
  ['a row backwards', 'poiuytrewq0987'],
  ['digits in order', '123456789012345'],
  ['the name of the administrator', 'adelaide2026!', 'Adelaide'],
  ['the name of the product', 'quartermaster1!'],
  ...[
    ...['christopher1', 'alexander123', 'elizabeth123', 'qazwsxedcrfv', '123qweasdzxc', 'blink182blink'],
    ...['manchesterunited', '147258369147', '112233445566', 'geheim123456', 'mickeymouse1', 'superuser1234'],
    ...['strawberry123', 'correcthorsebatterystaple', 'Correct Horse Battery Staple'],
  ].map((password, i) => [`a known one (${i + 1})`, password] as const),
] as ReadonlyArray<readonly [what: string, password: string, name?: string]>;
for (const [what, password, name = 'Ada'] of bad) {
  test(`refuses ${what} as a password, without repeating it`, async () => {
    await assert.rejects(
      checkPassword(password, name),
      (error) =>
        error instanceof Problem && error.code === 'REQUEST_VALIDATION_ERROR' && !error.message.includes(password),
    );
  });
}

test('a password check beyond the time limit results in 503', async () => {
  await assert.rejects(guessesOf('several words that do not belong together', 'root', 1), (error) => {
    assert.ok(error instanceof Problem);
    assert.equal(error.code, 'SERVICE_UNAVAILABLE');
    return true;
  });
});
