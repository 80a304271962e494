import assert from 'node:assert/strict';
import { test } from 'node:test';
import officeCrypto from 'officecrypto-tool';
import {
  encryptedOfficeFile,
  presentation,
  wordDocument,
  workbook,
} from '../../../../../../test/support/sample-office.ts';
import { decryptOffice, isEncryptedOffice } from './office-password.ts';

const samples = {
  Word: wordDocument(['Behind a password', 'x'.repeat(20_000)]),
  Excel: workbook([{ name: 'A', rows: [['one', 'two']] }]),
  PowerPoint: presentation(['Slide']),
};

/** The files are written by another implementation of MS-OFFCRYPTO. */
for (const [method, options] of [
  ['agile', {}],
  ['standard', { type: 'standard' }],
] as const) {
  test(`Office files that another program has encrypted (${method}) are decrypted to the same bytes`, async () => {
    const password = 'pass 密码 ü';
    const encrypted = officeCrypto.encrypt(samples.Word, { password, ...options });
    assert.ok(isEncryptedOffice(encrypted));
    assert.deepEqual(Buffer.from(await decryptOffice(encrypted, password, 'Word')), samples.Word);
    await assert.rejects(decryptOffice(encrypted, 'pass', 'Word'), { code: 'password_wrong' });
  });
}

test('damaged and hostile containers are refused with a reason', async () => {
  const codes = new Set(['file_damaged', 'file_encrypted', 'password_wrong']);
  const refused = (bytes: Buffer, label: string) =>
    assert.rejects(decryptOffice(bytes, 'secret', 'Word'), ({ code }) => codes.has(code), label);
  await refused(encryptedOfficeFile(), 'empty streams');
  const encrypted = officeCrypto.encrypt(samples.Excel, { password: 'secret' });
  await refused(encrypted.subarray(0, 600), 'cut off');
  const text = encrypted.toString('latin1');
  const changes = [
    [/spinCount="100000"/, 'spinCount="9999e9"'],
    [/hashAlgorithm="SHA512"/, 'hashAlgorithm="SHA999"'],
    [/keyBits="256"/, 'keyBits="999"'],
    [/encryptedKey /, 'encryptedYek '],
    [/encryptedVerifierHashInput="..../, 'encryptedVerifierHashInput="===='],
  ] as const;
  for (const [from, to] of changes) {
    const changed = Buffer.from(text.replace(from, to), 'latin1');
    assert.notDeepEqual(changed, encrypted, String(from));
    await refused(changed, String(from));
  }
});

test('other files are not taken for encrypted ones', () => {
  for (const plain of [...Object.values(samples), Buffer.alloc(0), Buffer.from('d0cf11e0a1b11ae1', 'hex')])
    assert.equal(isEncryptedOffice(plain), false);
});
