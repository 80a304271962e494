import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { parseConfig } from '../../app/settings/config.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { createEncrypter, createEncryptionKey, readEncryptionKey } from './encryption.ts';
import { openEncrypter } from './encryption-key.ts';

const newKey = () => readEncryptionKey(createEncryptionKey()) ?? assert.fail('a new key can be read');
const place = ['credential_profile', 'project-1', 'weather', 'one'];
/** Returns an encrypted text with its parts as bytes. */
const meaning = (text: string) =>
  text
    .split('.')
    .map((part, index) => (index < 2 ? part : Buffer.from(part, 'base64url').toString('hex')))
    .join('.');
const plain = '{"KEY":"canary-0123456789 ü"}';

describe('an encrypted text', () => {
  it('can be decrypted for its context, and reveals nothing of its content', () => {
    const encrypter = createEncrypter(newKey());
    const { text, keyId } = encrypter.encrypt(plain, place);
    assert.equal(encrypter.decrypt(text, place), plain);
    assert.equal(keyId, encrypter.currentKeyId);
    assert.match(text, new RegExp(`^v1\\.${keyId}\\.[\\w-]{16}\\.[\\w-]+$`));
    const bytes = Buffer.from(String(text.split('.')[3]), 'base64url').toString('latin1');
    for (const form of ['canary', 'KEY', '0123']) assert.equal(text.includes(form) || bytes.includes(form), false);
  });

  it('cannot be decrypted for another context or with another key', () => {
    const encrypter = createEncrypter(newKey());
    const { text } = encrypter.encrypt(plain, place);
    for (const part of place) {
      const elsewhere = place.map((other) => (other === part ? 'other' : other));
      assert.equal(encrypter.decrypt(text, elsewhere), null, part);
    }
    assert.equal(encrypter.decrypt(text, place.slice(0, 3)), null);
    assert.equal(encrypter.decrypt(text, [...place, '']), null);
    // The two contexts look the same only when their names are joined.
    assert.equal(encrypter.decrypt(encrypter.encrypt(plain, ['a', 'b,c']).text, ['a,b', 'c']), null);
    assert.equal(createEncrypter(newKey()).decrypt(text, place), null);
  });

  it('cannot be decrypted when any byte is changed', () => {
    const encrypter = createEncrypter(newKey());
    const { text } = encrypter.encrypt(plain, place);
    for (let index = 0; index < text.length; index += 1) {
      for (const other of ['A', 'z', '.', '']) {
        const changed = text.slice(0, index) + other + text.slice(index + 1);
        // Some bits of the last base64 character have no meaning.
        if (meaning(changed) === meaning(text)) continue;
        assert.equal(encrypter.decrypt(changed, place), null, `${index} ${other}`);
      }
    }
  });

  it('is different each time', () => {
    const encrypter = createEncrypter(newKey());
    const nonces = Array.from({ length: 20_000 }, () => encrypter.encrypt('', place).text.split('.')[2]);
    assert.equal(new Set(nonces).size, nonces.length);
  });

  it('of an older key can be decrypted while the settings contain that key', () => {
    const [older, newer] = [newKey(), newKey()];
    const { text } = createEncrypter(older).encrypt(plain, place);
    const both = createEncrypter(newer, [older]);
    assert.equal(both.decrypt(text, place), plain);
    assert.equal(both.encrypt(plain, place).keyId, newer.id);
    assert.deepEqual([both.knows(older.id), createEncrypter(newer).knows(older.id)], [true, false]);
  });
});

describe('sealing keys', () => {
  it('are printed as secrets in every form of output', () => {
    const text = createEncryptionKey();
    const key = readEncryptionKey(text);
    assert.ok(!inspect(key, { depth: 9, showHidden: true }).includes(text.slice(0, 20)));
    assert.ok(!JSON.stringify(key).includes(text.slice(0, 20)));
  });

  it('are read from the environment or from a file, of which the first key encrypts', async (t) => {
    const folder = await temporaryFolder(t);
    const [first, second] = [createEncryptionKey(), createEncryptionKey()];
    const ids = [first, second].map((text) => readEncryptionKey(text)?.id);
    const file = join(folder, 'keys');
    await writeFile(file, `# the new one\n${first}\n\n  ${Buffer.from(second, 'base64url').toString('base64')}\n`);
    const fromFile = openEncrypter(parseConfig({ QUARTERMASTER_SEALING_KEY_FILE: file }));
    const fromEnvironment = openEncrypter(parseConfig({ QUARTERMASTER_SEALING_KEY: `${first}, ${second}` }));
    for (const encrypter of [fromFile, fromEnvironment]) {
      assert.equal(encrypter?.currentKeyId, ids[0]);
      assert.equal(encrypter?.knows(ids[1] ?? ''), true);
    }
    assert.equal(openEncrypter(parseConfig({})), null);
  });

  it('with errors are reported by setting and number, without showing them', async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'keys');
    await writeFile(file, `${createEncryptionKey()}\nmy-secret-passphrase\n`);
    const settings = { QUARTERMASTER_SEALING_KEY_FILE: file };
    const refused = ({ message }: Error) =>
      /SEALING_KEY_FILE: the content of the file must be a list of keys/.test(message) &&
      !message.includes('passphrase');
    assert.throws(() => parseConfig(settings), refused);
    await writeFile(file, '# none\n');
    assert.throws(() => parseConfig(settings), refused);
    const storeFile = join(folder, 'encryption-key');
    await writeFile(storeFile, `${createEncryptionKey()}\nmy-secret-passphrase\n`);
    const open = (path: string) => () => openEncrypter({ encryptionKeys: [] }, path);
    assert.throws(open(storeFile), /encryption-key: key number 2 must be the base64 encoding/);
    assert.throws(open(file), /contains no key/);
    assert.throws(open(join(folder, 'absent')), /cannot be read \(ENOENT\)/);
  });
});
