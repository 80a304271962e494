/** Replaces secrets, in the encodings they travel in, with `[redacted]`. */
export interface Scrubber {
  text(value: string): string;
  /** The same Buffer when it holds no secret. */
  bytes(value: Buffer): Buffer;
  /** Every string and key of a JSON value; the same value when it holds no secret. */
  deep<T>(value: T): T;
  /** From now on these are replaced as well. Only a scrubber that was made to grow has it. */
  learn?(secrets: Iterable<string>): void;
}

export const redacted = '[redacted]';

/** Shorter secrets (a PIN) cannot be told from ordinary text and are left alone. */
const shortest = 4;
/** From this length on a secret is replaced wherever it stands; below only where no letter or digit touches it. */
const anywhere = 8;

/** Finds nothing, changes nothing: for calls without credentials. */
export const noSecrets: Scrubber = { text: (value) => value, bytes: (value) => value, deep: (value) => value };

/**
 * A scrubber for the secrets of one run. Forms: as it is, JSON-escaped (also ASCII-only and HTML-safe, and once more),
 * as XML or HTML text, URL-encoded (component, RFC 3986, form; both cases), base64 and base64url (padded, not, and
 * inside longer text at any of the three alignments), hexadecimal (both cases), UTF-16 read as bytes, in lower case, as
 * names of hosts and headers are written. What an upstream invents beyond that is not found.
 */
export function createScrubber(secrets: Iterable<string | Uint8Array>): Scrubber {
  const values = [...secrets].filter((secret) => secret.length >= shortest);
  if (values.length === 0) return noSecrets;
  const forms = new Set(
    values.flatMap((secret) => [...(typeof secret === 'string' ? formsOf(secret) : byteForms(secret))]),
  );
  const cores = values.flatMap((secret) => (typeof secret === 'string' ? coreOf(secret) : []));
  const scrubText = createReplacer(forms, cores);
  // Bytes are searched as Latin-1, so what is not ASCII is looked for as the Latin-1 of its UTF-8.
  const isAscii = [...forms].every((form) => /^[\x00-\x7f]*$/.test(form));
  const scrubBytes = isAscii ? scrubText : createReplacer(new Set([...forms].map(utf8AsLatin1)), cores);

  function bytes(value: Buffer): Buffer {
    const before = value.toString('latin1');
    const after = scrubBytes(before);
    return after === before ? value : Buffer.from(after, 'latin1');
  }
  return { text: scrubText, bytes, deep: (value) => scrubDeep(value, scrubText) as typeof value };
}

/** A scrubber for secrets of which some are got on the way, such as access tokens. */
export function createGrowingScrubber(secrets: Iterable<string | Uint8Array>): Required<Scrubber> {
  const known = new Set(secrets);
  let current = createScrubber(known);
  return {
    text: (value) => current.text(value),
    bytes: (value) => current.bytes(value),
    deep: (value) => current.deep(value),
    learn(more) {
      const before = known.size;
      for (const secret of more) known.add(secret);
      if (known.size > before) current = createScrubber(known);
    },
  };
}

/** Making a pattern pays after this many characters; until then each form is searched for. */
const fewCharacters = 16 * 1024;
/** What a call costs, in characters. */
const perCall = 64;

/**
 * Almost always finds nothing; so the pattern is made when it is needed.
 * @param cores pieces of the secrets, in which most forms are found at once
 */
function createReplacer(forms: ReadonlySet<string>, cores: readonly string[]): (text: string) => string {
  // The longest first: an alternation takes the first that fits.
  const all = [...forms].sort((a, b) => b.length - a.length);
  const signs = [...cores, ...all.filter((form) => !cores.some((core) => form.includes(core)))];
  let pattern: RegExp | undefined;
  let searched = 0;
  return (text) => {
    searched += text.length + perCall;
    if (searched <= fewCharacters && !signs.some((sign) => text.includes(sign))) return text;
    pattern ??= new RegExp(all.map(patternOf).join('|'), 'g');
    return text.replace(pattern, redacted);
  };
}

/** The longest piece that no notation for text changes, where there is one that hardly any other text has. */
function coreOf(secret: string): string[] {
  const pieces = secret.match(/[A-Za-z0-9]{6,}/g) ?? [];
  return pieces.sort((a, b) => b.length - a.length).slice(0, 1);
}

function patternOf(form: string): string {
  const source = RegExp.escape(form);
  return form.length >= anywhere ? source : `(?<![A-Za-z0-9])${source}(?![A-Za-z0-9])`;
}

// The shape stays: strings become strings, so the caller's type holds.
function scrubDeep(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return scrubArray(value, text);
  let changed = false;
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    const before = (value as Record<string, unknown>)[key]; // own key of an object
    const after = scrubDeep(before, text);
    const name = text(key);
    changed ||= after !== before || name !== key;
    entries.push([name, after]);
  }
  return changed ? Object.fromEntries(entries) : value;
}

function scrubArray(value: readonly unknown[], text: (value: string) => string): readonly unknown[] {
  let copy: unknown[] | null = null;
  for (const [index, before] of value.entries()) {
    const after = scrubDeep(before, text);
    if (after === before) continue;
    copy ??= [...value];
    copy[index] = after;
  }
  return copy ?? value;
}

/** What no notation for text writes in another way: most keys are made of nothing else. */
const plain = /^[A-Za-z0-9_.-]+$/;

function* formsOf(secret: string): Generator<string> {
  yield secret;
  if (secret.length >= anywhere) yield secret.toLowerCase();
  yield* utf16Forms(secret);
  if (!plain.test(secret)) yield* textForms(secret);
  yield* byteForms(Buffer.from(secret.toWellFormed()));
}

function* byteForms(secret: Uint8Array): Generator<string> {
  const bytes = Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength);
  const hex = bytes.toString('hex');
  yield hex;
  yield hex.toUpperCase();
  for (const base64 of base64Forms(bytes)) {
    yield base64;
    yield base64.replaceAll('+', '-').replaceAll('/', '_');
  }
}

/** What UTF-16 becomes where it is read as another encoding: without what stands before the first letter or after the last. */
function* utf16Forms(secret: string): Generator<string> {
  const letters = [...secret].join('\0');
  yield letters;
  // As JSON writes it.
  yield letters.replaceAll('\0', '\\u0000');
}

function* textForms(secret: string): Generator<string> {
  yield* notations(secret);
  // An answer often quotes another answer: JSON as a string within JSON, or in a URL, or packed.
  let nested = secret;
  for (let level = 1; level <= jsonLevels; level += 1) {
    const json = JSON.stringify(nested).slice(1, -1);
    if (json === nested) return;
    nested = json;
    yield nested;
    if (level > packedLevels) continue;
    yield* notations(nested);
    yield* byteForms(Buffer.from(nested.toWellFormed()));
  }
}

/** How a text is written within another one. */
function* notations(text: string): Generator<string> {
  for (const json of jsonForms(text)) {
    yield json;
    if (json !== text) yield* jsonForms(json);
  }
  yield text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
  yield text.replace(/[&<>]/g, (character) => entities[character] ?? character);
  yield* urlForms(text);
}

/** An upstream that quotes a request which held JSON, in JSON, quoted by a handler. */
const jsonLevels = 5;
const packedLevels = 2;

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

/** The whole value with padding, then what it becomes inside longer text: only the characters it decides alone. */
function* base64Forms(bytes: Buffer): Generator<string> {
  yield bytes.toString('base64');
  for (const offset of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const inner = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    if (inner.length >= shortest) yield inner;
  }
}

function utf8AsLatin1(secret: string): string {
  return Buffer.from(secret.toWellFormed()).toString('latin1');
}
