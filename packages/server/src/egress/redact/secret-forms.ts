import { once } from '../../kernel/concurrency/once.ts';

/** Encoded forms of a secret, and short pieces of text; each form contains at least one of the pieces. */
export interface FormFamily {
  readonly signs: readonly string[];
  /** Built only when a sign is found, which is rare. */
  readonly forms: () => Iterable<string>;
}

/** Characters of a secret that its signs are made of: enough to be rare, few enough to be cheap. */
const signLength = 32;
/** As much, where every character has many notations. */
const startLength = 8;
/** Shorter pieces of a packed secret are left alone. */
const shortestInner = 4;
/** From this length on a secret is looked for in lower case too. */
const shortestLowered = 8;
/** So many letters and digits in a row hardly any other text has; where they are packed, fewer are enough. */
const rare = { asText: 6, packed: 4 } as const;
/** An upstream that quotes a request which held JSON, in JSON, quoted by a handler. */
const jsonLevels = 5;
const packedLevels = 2;

/**
 * As it is; JSON-escaped (also ASCII-only and HTML-safe, and more than once); as XML or HTML text; URL-encoded (component,
 * RFC 3986, form; both cases; twice); as UTF-16 read as bytes: all these also packed, which is hexadecimal (both cases),
 * base64 or base64url (padded, not, and inside longer text at any of the three alignments), itself written in the same
 * ways. Beyond that in lower case, as names of hosts and headers are written.
 */
export function familiesOf(secret: string): FormFamily[] {
  // No notation changes a letter or a digit, nor the base64 of them: what becomes of a row of them is in every form.
  const row = (secret.match(/[A-Za-z0-9]+/g) ?? []).reduce((a, b) => (b.length > a.length ? b : a), '');
  const piece = row.slice(0, signLength);
  const isRare = row.length >= rare.asText;
  const isRarePacked = row.length >= rare.packed;
  // Encodings write one character after the other, so the form of a secret starts with the form of its beginning.
  const start = headOf(secret, startLength);
  const lowered = secret.length < shortestLowered ? [] : [secret.toLowerCase()];
  const others = once(() => [...lowered, ...utf16Forms(secret)]);
  return [
    { signs: isRare ? [piece] : unique(textForms(start)), forms: () => textForms(secret) },
    { signs: unique(others().map((form) => headOf(form, signLength))), forms: others },
    ...packings.flatMap((pack) => [
      {
        signs: unique(isRarePacked ? pack.signs(Buffer.from(piece)) : packedTexts(start, pack)),
        forms: () => packedTexts(secret, pack),
      },
      {
        signs: unique(isRarePacked ? pack.signs(utf16OfAscii(piece)) : packedUtf16(start, pack)),
        forms: () => packedUtf16(secret, pack),
      },
    ]),
  ];
}

/** Of a secret that is no text: packed. */
export function familiesOfBytes(secret: Uint8Array): FormFamily[] {
  const bytes = Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength);
  return packings.map((pack) => ({
    signs: unique(packedForms(bytes.subarray(0, startLength), pack)),
    forms: () => packedForms(bytes, pack),
  }));
}

/** Without half of a character at its end. */
function headOf(text: string, length: number): string {
  const head = text.slice(0, length);
  return head.length < text.length && isHighSurrogate(head.charCodeAt(head.length - 1)) ? head.slice(0, -1) : head;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function unique(texts: Iterable<string>): string[] {
  return [...new Set(texts)];
}

/** What no notation for text writes in another way: most keys are made of nothing else. */
const plain = /^[A-Za-z0-9_.-]*$/;

function* textForms(secret: string): Generator<string> {
  for (const [level, nested] of nestedInJson(secret).entries()) {
    yield nested;
    if (level <= packedLevels) yield* notations(nested);
  }
}

/** An answer often quotes another answer: JSON as a string within JSON. The first is the secret. */
function nestedInJson(secret: string): string[] {
  const all = [secret];
  for (let nested = secret; all.length <= jsonLevels; all.push(nested)) {
    const json = JSON.stringify(nested).slice(1, -1);
    if (json === nested) break;
    nested = json;
  }
  return all;
}

/** How a text is written within another one. */
function* notations(text: string): Generator<string> {
  if (plain.test(text)) return;
  for (const json of jsonForms(text)) {
    yield json;
    if (json !== text) yield* jsonForms(json);
  }
  yield text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
  yield text.replace(/[&<>]/g, (character) => entities[character] ?? character);
  yield* urlForms(text);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function* jsonForms(secret: string): Generator<string> {
  const json = JSON.stringify(secret).slice(1, -1);
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const ascii = json.replace(/[^\x20-\x7e]/g, escaped);
  yield json;
  yield ascii;
  yield json.replaceAll('/', '\\/');
  yield ascii.replaceAll('/', '\\/');
  yield ascii.replace(/[<>&]/g, escaped);
  yield ascii.replaceAll('/', '\\u002f');
  // As .NET does it.
  yield ascii
    .replaceAll('\\"', '\\u0022')
    .replace(/[<>&'+`]/g, (character) => escaped(character).toUpperCase().replace('U', 'u'));
}

function* urlForms(secret: string): Generator<string> {
  const component = encodeURIComponent(secret.toWellFormed());
  const strict = component.replace(/[!'()*]/g, percent);
  const form = strict.replaceAll('%20', '+');
  for (const encoded of [component, strict, form, encodeURI(secret.toWellFormed())]) {
    for (const one of [encoded, encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]) {
      yield one;
      // A URL as a parameter of another one.
      yield one.replaceAll('%', '%25');
    }
  }
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** What UTF-16 becomes where it is read as another encoding: without what stands before the first letter or after the last. */
function utf16Forms(secret: string): string[] {
  const letters = [...secret].join('\0');
  // The second as JSON writes it.
  return [letters, letters.replaceAll('\0', '\\u0000')];
}

/** In both orders of bytes. */
function utf16Bytes(text: string): Buffer[] {
  const little = Buffer.from(text, 'utf16le');
  return [little.subarray(0, -1), Buffer.from(little).swap16().subarray(1)];
}

/** Both orders are the same but for the zero at one end, which is left out. */
function utf16OfAscii(text: string): Buffer {
  return Buffer.from(text, 'utf16le').subarray(0, -1);
}

/** Writes bytes as text. */
interface Packing {
  readonly forms: (bytes: Buffer) => string[];
  /** Text that every packing of these bytes contains, whatever bytes surround them. */
  readonly signs: (bytes: Buffer) => string[];
}

const packings: readonly Packing[] = [
  { forms: hexForms, signs: hexForms },
  { forms: base64Forms, signs: innerBase64 },
];

function* packedTexts(secret: string, pack: Packing): Generator<string> {
  for (const nested of nestedInJson(secret).slice(0, packedLevels + 1)) {
    yield* packedForms(toBytes(nested), pack);
    for (const written of new Set(notations(nested))) yield* pack.forms(toBytes(written));
  }
}

function* packedUtf16(secret: string, pack: Packing): Generator<string> {
  for (const bytes of utf16Bytes(secret)) yield* packedForms(bytes, pack);
}

/** Packed, and how that is written within a text. */
function* packedForms(bytes: Buffer, pack: Packing): Generator<string> {
  for (const packed of pack.forms(bytes)) {
    yield packed;
    yield* notations(packed);
  }
}

function hexForms(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return [hex, hex.toUpperCase()];
}

/** Alone, and within longer text; each also as base64url. */
function base64Forms(bytes: Buffer): string[] {
  return [bytes.toString('base64'), ...innerBase64(bytes)].flatMap((base64) => [
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

/** What base64 of a longer text has of the bytes: only the characters that they decide alone. */
function innerBase64(bytes: Buffer): string[] {
  const inner = [0, 1, 2].map((offset) => {
    const shifted = Buffer.alloc(offset + bytes.length);
    bytes.copy(shifted, offset);
    return shifted.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return inner.filter((piece) => piece.length >= shortestInner);
}

function toBytes(text: string): Buffer {
  return Buffer.from(text.toWellFormed());
}
