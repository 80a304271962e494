import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from '../../kernel/secret.ts';
import { createEncrypter, createEncryptionKey, readEncryptionKey } from './encryption.ts';
import { openEncrypter } from './encryption-key-settings.ts';

const newKey = () => readEncryptionKey(createEncryptionKey()) ?? assert.fail('a new key can be read');
const place = ['credential_profile', 'project-1', 'weather', 'one'];
/** A sealed text with its parts as bytes. */
const meaning = (text: string) =>
  text
    .split('.')
    .map((part, index) => (index < 2 ? part : Buffer.from(part, 'base64url').toString('hex')))
    .join('.');
const plain = '{"KEY":"canary-0123456789 ü"}';

describe('a seal', () => {
  it('opens for the place it was made for, and shows nothing of what is in it', () => {
    const encrypter = createEncrypter(newKey());
    const { text, keyId } = encrypter.seal(plain, place);
    assert.equal(encrypter.open(text, place), plain);
    assert.equal(keyId, encrypter.currentKeyId);
    assert.match(text, new RegExp(`^v1\\.${keyId}\\.[\\w-]{16}\\.[\\w-]+$`));
    const bytes = Buffer.from(String(text.split('.')[3]), 'base64url').toString('latin1');
    for (const form of ['canary', 'KEY', '0123']) assert.equal(text.includes(form) || bytes.includes(form), false);
  });

  it('opens nowhere else, and not with another key', () => {
    const encrypter = createEncrypter(newKey());
    const { text } = encrypter.seal(plain, place);
    for (const part of place) {
      const elsewhere = place.map((other) => (other === part ? 'other' : other));
      assert.equal(encrypter.open(text, elsewhere), null, part);
    }
    assert.equal(encrypter.open(text, place.slice(0, 3)), null);
    assert.equal(encrypter.open(text, [...place, '']), null);
    // Two names that only look the same when they are put together.
    assert.equal(encrypter.open(encrypter.seal(plain, ['a', 'b,c']).text, ['a,b', 'c']), null);
    assert.equal(createEncrypter(newKey()).open(text, place), null);
  });

  it('does not open when any byte of it is another', () => {
    const encrypter = createEncrypter(newKey());
    const { text } = encrypter.seal(plain, place);
    for (let index = 0; index < text.length; index += 1) {
      for (const other of ['A', 'z', '.', '']) {
        const changed = text.slice(0, index) + other + text.slice(index + 1);
        // The last character of base64 has bits that say nothing.
        if (meaning(changed) === meaning(text)) continue;
        assert.equal(encrypter.open(changed, place), null, `${index} ${other}`);
      }
    }
  });

  it('is never made twice alike', () => {
    const encrypter = createEncrypter(newKey());
    const nonces = Array.from({ length: 20_000 }, () => encrypter.seal('', place).text.split('.')[2]);
    assert.equal(new Set(nonces).size, nonces.length);
  });

  it('of an older key opens as long as the settings have that key', () => {
    const [older, newer] = [newKey(), newKey()];
    const { text } = createEncrypter(older).seal(plain, place);
    const both = createEncrypter(newer, [older]);
    assert.equal(both.open(text, place), plain);
    assert.equal(both.seal(plain, place).keyId, newer.id);
    assert.deepEqual([both.knows(older.id), createEncrypter(newer).knows(older.id)], [true, false]);
  });
});

describe('sealing keys', () => {
  it('print as secrets, whatever prints them', () => {
    const text = createEncryptionKey();
    const key = readEncryptionKey(text);
    assert.ok(!inspect(key, { depth: 9, showHidden: true }).includes(text.slice(0, 20)));
    assert.ok(!JSON.stringify(key).includes(text.slice(0, 20)));
  });

  it('come from the environment or from a file, the one to seal with first', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'quartermaster-sealing-'));
    t.after(() => rm(folder, { recursive: true }));
    const [first, second] = [createEncryptionKey(), createEncryptionKey()];
    const ids = [first, second].map((text) => readEncryptionKey(text)?.id);
    const file = join(folder, 'keys');
    await writeFile(file, `# the new one\n${first}\n\n  ${Buffer.from(second, 'base64url').toString('base64')}\n`);
    const fromFile = openEncrypter({ sealingKeys: [], sealingKeyFile: file });
    const fromEnvironment = openEncrypter({
      sealingKeys: [new Secret(first), new Secret(second)],
      sealingKeyFile: null,
    });
    for (const encrypter of [fromFile, fromEnvironment]) {
      assert.equal(encrypter?.currentKeyId, ids[0]);
      assert.equal(encrypter?.knows(ids[1] ?? ''), true);
    }
    assert.equal(openEncrypter({ sealingKeys: [], sealingKeyFile: null }), null);
  });

  it('that are wrong are told by setting and number, without showing them', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'quartermaster-sealing-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'keys');
    await writeFile(file, `${createEncryptionKey()}\nmy-secret-passphrase\n`);
    assert.throws(
      () => openEncrypter({ sealingKeys: [], sealingKeyFile: file }),
      /SEALING_KEY_FILE: key 2 is not the base64/,
    );
    await writeFile(file, '# none\n');
    assert.throws(() => openEncrypter({ sealingKeys: [], sealingKeyFile: file }), /holds no key/);
    const absent = join(folder, 'absent');
    assert.throws(() => openEncrypter({ sealingKeys: [], sealingKeyFile: absent }), /cannot be read \(ENOENT\)/);
    const both = { sealingKeys: [new Secret(createEncryptionKey())], sealingKeyFile: file };
    assert.throws(() => openEncrypter(both), /both set/);
  });
});
