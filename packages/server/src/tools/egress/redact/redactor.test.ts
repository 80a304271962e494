import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createRedactor, redacted } from './redactor.ts';
import { familiesOf, familiesOfBytes } from './secret-forms.ts';

const secrets = [
  'sk-live_4f9A+b/c==Zq',
  'p@ss "wörd" & <more>/x',
  "it's (a) pass phrase!",
  'c0ffee00-1234-5678-9abc-def012345678',
];
const url = (text: string) => encodeURIComponent(text);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const hex = (text: string) => Buffer.from(text).toString('hex');

const every = (text: string, escapeOne: (code: number) => string) =>
  Array.from({ length: text.length }, (_, at) => escapeOne(text.charCodeAt(at))).join('');

const encodings: Readonly<Record<string, (secret: string) => string>> = {
  raw: (secret) => secret,
  'JSON text': (secret) => JSON.stringify({ a: secret }),
  'JSON with escaped slashes': (secret) => JSON.stringify(secret).replaceAll('/', '\\/'),
  'JSON within JSON': (secret) => JSON.stringify({ a: JSON.stringify({ b: secret }) }),
  'JSON in ASCII': (secret) => JSON.stringify(secret).replaceAll('ö', '\\u00f6'),
  'HTML-safe JSON': (secret) =>
    JSON.stringify(secret)
      .replaceAll('ö', '\\u00f6')
      .replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
  'JSON with every character escaped': (secret) => every(secret, (code) => `\\u${code.toString(16).padStart(4, '0')}`),
  'JSON with every character escaped in upper case': (secret) =>
    every(secret, (code) => `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`),
  'JSON with every character escaped, within JSON': (secret) =>
    JSON.stringify(every(secret, (code) => `\\u${code.toString(16).padStart(4, '0')}`)),
  'decimal entities': (secret) => every(secret, (code) => `&#${code};`),
  'hexadecimal entities': (secret) => every(secret, (code) => `&#x${code.toString(16)};`),
  'hexadecimal entities in upper case': (secret) => every(secret, (code) => `&#x${code.toString(16).toUpperCase()};`),
  'URL with every byte encoded': (secret) => hex(secret).toUpperCase().replace(/../g, '%$&'),
  'URL with every byte encoded in lower case': (secret) => hex(secret).replace(/../g, '%$&'),
  XML: (secret) => secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  'URL component': url,
  'URL component in lower case': (secret) => url(secret).replace(/%../g, (code) => code.toLowerCase()),
  form: (secret) => new URLSearchParams({ a: secret }).toString(),
  base64,
  'base64 without padding': (secret) => base64(secret).replaceAll('=', ''),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'base64 behind one byte': (secret) => base64(`:${secret}`),
  'base64 behind two bytes': (secret) => base64(`a:${secret}`),
  'base64 within text': (secret) => base64(`{"token":"${secret}"}`),
  hex,
  'UTF-16 read as bytes': (secret) => [...secret].join('\0'),
  'UTF-16 read as bytes, in JSON': (secret) => [...secret].join('\\u0000'),
  'lower case': (secret) => secret.toLowerCase(),
  HEX: (secret) => hex(secret).toUpperCase(),
  'hex of a URL component': (secret) => hex(url(secret)),
  'HEX of a URL component in lower case': (secret) =>
    hex(url(secret).replace(/%../g, (code) => code.toLowerCase())).toUpperCase(),
  'hex of a URL within a URL': (secret) => hex(url(url(secret))),
  'hex of a form': (secret) => hex(new URLSearchParams({ a: secret }).toString()),
  'hex of JSON': (secret) => hex(JSON.stringify({ a: secret })),
  'hex of JSON within JSON': (secret) => hex(JSON.stringify({ a: JSON.stringify({ b: secret }) })),
  'hex of JSON in a URL': (secret) => hex(url(JSON.stringify({ a: secret }))),
  'hex of XML': (secret) => hex(secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')),
  'hex of UTF-16': (secret) => Buffer.from(secret, 'utf16le').toString('hex'),
  'hex of UTF-16, the other way round': (secret) => Buffer.from(secret, 'utf16le').swap16().toString('hex'),
  'base64 of a URL component': (secret) => base64(url(secret)),
  'base64 of a form': (secret) => base64(new URLSearchParams({ a: secret }).toString()),
  'base64 of JSON in a URL': (secret) => base64(url(JSON.stringify({ a: secret }))),
  'base64 of UTF-16': (secret) => Buffer.from(secret, 'utf16le').toString('base64'),
  'base64 of UTF-16 behind a blank': (secret) => Buffer.from(` ${secret}`, 'utf16le').toString('base64'),
  'base64 in a URL': (secret) => url(base64(secret)),
  'base64 in a URL within a URL': (secret) => url(url(base64(`u:${secret}`))),
  'base64 in a URL in lower case': (secret) => url(base64(secret)).replace(/%../g, (code) => code.toLowerCase()),
  'base64 with escaped slashes': (secret) => base64(secret).replaceAll('/', '\\/'),
};

describe('a redactor', () => {
  for (const [name, encode] of Object.entries(encodings)) {
    it(`finds a secret as ${name}, in text, in bytes and deep in a value`, () => {
      for (const secret of secrets) {
        const redactor = createRedactor([secret]);
        const sent = `before ${encode(secret)} after`;
        const found = redactor.text(sent);
        assert.ok(found.includes(redacted), `${name} of ${secret} in text: ${found}`);
        assert.ok(!found.includes(encode(secret)));
        assert.ok(found.startsWith('before ') && found.endsWith(' after'));
        assert.equal(redactor.bytes(Buffer.from(sent)).toString(), found);
        assert.deepEqual(redactor.deep({ [sent]: [1, { a: sent }] }), { [found]: [1, { a: found }] });
      }
    });
  }

  it('returns the same object when it contains no secret', () => {
    const redactor = createRedactor(secrets);
    const bytes = Buffer.from('nothing here');
    const value = { a: [1, null, 'nothing', { b: true }] };
    assert.equal(redactor.bytes(bytes), bytes);
    assert.equal(redactor.deep(value), value);
  });

  it('does not change the bytes around a secret, text or not', () => {
    const before = Buffer.from([0xff, 0x00, 0xc3]);
    const cleaned = createRedactor(['12345678']).bytes(Buffer.concat([before, Buffer.from('12345678'), before]));
    assert.deepEqual(cleaned, Buffer.concat([before, Buffer.from(redacted), before]));
  });

  it('replaces a short secret only where it stands alone, and none below four characters', () => {
    const redactor = createRedactor(['pass', '123', '']);
    assert.equal(redactor.text('pass=pass; passport compass 123'), '[redacted]=[redacted]; passport compass 123');
  });

  it('treats a key such as __proto__ as a member', () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":"12345678"}}');
    const redacted = createRedactor(['12345678']).deep(value);
    assert.equal(JSON.stringify(redacted), '{"__proto__":{"a":"[redacted]"}}');
    assert.equal(Object.getPrototypeOf(redacted), Object.prototype);
  });

  it('recognises every encoding', () => {
    const writtenInManyWays = fc.constantFrom(
      '"',
      '\\',
      '&',
      "'",
      '/',
      '%',
      '+',
      ' ',
      '\n',
      'ü',
      'Σ',
      '中',
      '😀',
      'a',
      '9',
    );
    const units = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ unit: writtenInManyWays }));
    fc.assert(
      fc.property(
        fc.array(units).map((parts) => parts.join('').slice(0, 24)),
        (secret) => {
          if (secret.length < 4) return;
          for (const { signs, forms } of [...familiesOf(secret), ...familiesOfBytes(Buffer.from(secret))]) {
            for (const form of forms())
              assert.ok(
                signs.some((sign) => form.includes(sign)),
                form,
              );
          }
        },
      ),
    );
  });

  it('finds a secret in long texts too', () => {
    const before = 'Nothing to see here. '.repeat(2000);
    for (const secret of secrets) {
      const redactor = createRedactor([secret]);
      assert.equal(redactor.text(before), before);
      assert.equal(redactor.text(before + hex(url(secret))), before + redacted);
      assert.equal(redactor.text(before + secret + base64(secret)), before + redacted + redacted);
    }
  });

  it('replaces a secret that contains another one as a whole', () => {
    const [inner, outer] = ['0123456789abcdef', 'before-0123456789abcdef-and-more'];
    for (const encode of [String, hex, base64]) {
      assert.equal(createRedactor([inner, outer]).text(`${encode(outer)} ${encode(inner)}`), `${redacted} ${redacted}`);
    }
  });

  it('always removes a secret of eight characters or more, whatever surrounds it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 8, maxLength: 40 }),
        fc.string(),
        fc.string(),
        (secret, a, b) => {
          const redactor = createRedactor([secret]);
          assert.ok(!redactor.text(a + secret + b).includes(secret) || redacted.includes(secret));
          assert.ok(
            !redactor.bytes(Buffer.from(a + secret + b)).includes(Buffer.from(secret)) || redacted.includes(secret),
          );
        },
      ),
    );
  });
});
