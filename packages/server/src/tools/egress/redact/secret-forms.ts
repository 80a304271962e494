import { once } from '../../../platform/concurrency/once.ts';

/** The encoded forms of a secret, and its signs: short texts of which every form contains at least one. */
export interface FormFamily {
  readonly signs: readonly string[];
  /** Called only when a sign is found, which is rare. */
  readonly forms: () => Iterable<string>;
}

/** The characters of a secret that a sign covers: enough to be rare, few enough to be cheap. */
const signLength = 32;
/** The same for encodings with many notations for each character. */
const startLength = 8;
/** Shorter parts of an encoded secret are not searched. */
const shortestInner = 4;
/** Secrets of at least this length are also searched in lower case. */
const shortestLowered = 8;
/** Letters and digits in a row that hardly any other text contains. In packed text fewer are enough. */
const rare = { asText: 6, packed: 4 } as const;
/** The number of levels of JSON within JSON. For example, an upstream quotes a JSON request in its JSON answer, and a handler quotes that answer. */
const jsonLevels = 5;
const packedLevels = 2;

/**
 * Returns all forms of a secret. Notations: plain; JSON-escaped (also ASCII-only, HTML-safe and repeated); XML or HTML text;
 * URL-encoded (component, RFC 3986, form; both cases; twice); every character escaped; UTF-16 read as bytes. Packings of each: hexadecimal (both cases),
 * base64 or base64url (padded or not, at any of the three alignments within longer text), again in the same notations. Also lower
 * case, as hosts and header names are written.
 */
export function familiesOf(secret: string): FormFamily[] {
  // No encoding but `escapedForms` changes letters, digits or their base64 text, so every other form contains the longest sequence of them, or
  // its packed form.
  const row = (secret.match(/[A-Za-z0-9]+/g) ?? []).reduce((a, b) => (b.length > a.length ? b : a), '');
  const piece = row.slice(0, signLength);
  const isRare = row.length >= rare.asText;
  const isRarePacked = row.length >= rare.packed;
  // Encodings work from the start, so the form of a secret starts with the form of its first characters.
  const start = headOf(secret, startLength);
  const lowered = secret.length < shortestLowered ? [] : [secret.toLowerCase()];
  const others = once(() => [...lowered, ...utf16Forms(secret)]);
  return [
    { signs: isRare ? [piece] : unique(textForms(start)), forms: () => textForms(secret) },
    { signs: unique(others().map((form) => headOf(form, signLength))), forms: others },
    { signs: unique(escapedForms(start)), forms: () => escapedForms(secret) },
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

/** The forms of a binary secret: its encodings. */
export function familiesOfBytes(secret: Uint8Array): FormFamily[] {
  const bytes = Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength);
  return packings.map((pack) => ({
    signs: unique(packedForms(bytes.subarray(0, startLength), pack)),
    forms: () => packedForms(bytes, pack),
  }));
}

/** The first characters, without half of a surrogate pair at the end. */
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

/** Characters that every notation for text leaves unchanged. Most keys contain no others. */
const plain = /^[A-Za-z0-9_.-]*$/;

function* textForms(secret: string): Generator<string> {
  for (const [level, nested] of nestedInJson(secret).entries()) {
    yield nested;
    if (level <= packedLevels) yield* notations(nested);
  }
}

/** The secret, followed by its escaped forms within nested JSON strings. */
function nestedInJson(secret: string): string[] {
  const all = [secret];
  for (let nested = secret; all.length <= jsonLevels; all.push(nested)) {
    const json = JSON.stringify(nested).slice(1, -1);
    if (json === nested) break;
    nested = json;
  }
  return all;
}

/** The notations of a text within another text. */
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
  // The escapes of .NET.
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
      // A URL as a parameter of another URL.
      yield one.replaceAll('%', '%25');
    }
  }
}

/** Every character escaped, letters and digits too: as JSON (also within JSON), as an entity of HTML, and as bytes of a URL. */
function* escapedForms(secret: string): Generator<string> {
  const points = Array.from(secret.toWellFormed(), (character) => character.codePointAt(0) ?? 0);
  yield points.map((point) => `&#${point};`).join('');
  const units = Array.from({ length: secret.length }, (_, at) => secret.charCodeAt(at));
  const bytes = [...Buffer.from(secret.toWellFormed())];
  for (const inCase of [(digits: string) => digits, (digits: string) => digits.toUpperCase()]) {
    const hex = (number: number, length = 0) => inCase(number.toString(16).padStart(length, '0'));
    yield points.map((point) => `&#x${hex(point)};`).join('');
    yield bytes.map((byte) => `%${hex(byte, 2)}`).join('');
    for (const mark of ['\\u', '\\\\u']) yield units.map((unit) => mark + hex(unit, 4)).join('');
  }
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** UTF-16 read as another encoding, from the first letter to the last. */
function utf16Forms(secret: string): string[] {
  const letters = [...secret].join('\0');
  // The second form is the first as JSON writes it.
  return [letters, letters.replaceAll('\0', '\\u0000')];
}

/** The UTF-16 bytes in both byte orders. */
function utf16Bytes(text: string): Buffer[] {
  const little = Buffer.from(text, 'utf16le');
  return [little.subarray(0, -1), Buffer.from(little).swap16().subarray(1)];
}

/** The UTF-16 bytes of ASCII text. Both byte orders differ only in a zero byte at one end, which is left out. */
function utf16OfAscii(text: string): Buffer {
  return Buffer.from(text, 'utf16le').subarray(0, -1);
}

/** An encoding of bytes as text. */
interface PackState {
  readonly forms: (bytes: Buffer) => string[];
  /** Texts that every encoding of these bytes contains, whatever bytes surround them. */
  readonly signs: (bytes: Buffer) => string[];
}

const packings: readonly PackState[] = [
  { forms: hexForms, signs: hexForms },
  { forms: base64Forms, signs: innerBase64 },
];

function* packedTexts(secret: string, pack: PackState): Generator<string> {
  for (const nested of nestedInJson(secret).slice(0, packedLevels + 1)) {
    yield* packedForms(toBytes(nested), pack);
    for (const written of new Set(notations(nested))) yield* pack.forms(toBytes(written));
  }
}

function* packedUtf16(secret: string, pack: PackState): Generator<string> {
  for (const bytes of utf16Bytes(secret)) yield* packedForms(bytes, pack);
}

/** The encodings of the bytes, and the forms in which each can appear in a text. */
function* packedForms(bytes: Buffer, pack: PackState): Generator<string> {
  for (const packed of pack.forms(bytes)) {
    yield packed;
    yield* notations(packed);
  }
}

function hexForms(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return [hex, hex.toUpperCase()];
}

/** The base64 and base64url forms of the bytes, alone and within longer text. */
function base64Forms(bytes: Buffer): string[] {
  return [bytes.toString('base64'), ...innerBase64(bytes)].flatMap((base64) => [
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

/** The base64 characters that depend only on these bytes, for each alignment within a longer text. */
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
