import { type FormFamily, familiesOf, familiesOfBytes } from './secret-forms.ts';

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
 * A scrubber for the secrets of one run. The forms in which they are found are those of `familiesOf`; what an upstream
 * invents beyond that is not found.
 */
export function createScrubber(secrets: Iterable<string | Uint8Array>): Scrubber {
  const values = [...secrets].filter((secret) => secret.length >= shortest);
  if (values.length === 0) return noSecrets;
  const families = values.flatMap((secret) =>
    typeof secret === 'string' ? familiesOf(secret) : familiesOfBytes(secret),
  );
  const scrubText = createReplacer(families);
  // Bytes are searched as Latin-1, so what is not ASCII is looked for as the Latin-1 of its UTF-8.
  const isAscii = values.every((secret) => typeof secret !== 'string' || /^[\x00-\x7f]*$/.test(secret));
  const scrubBytes = isAscii ? scrubText : createReplacer(families.map(toLatin1));

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

/** Making a pattern of the signs pays after this many characters; until then each is searched for. */
const fewCharacters = 16 * 1024;
/** What a call costs, in characters. */
const perCall = 64;

/** Almost always finds no sign; so the pattern of the forms is made when it is needed. */
function createReplacer(families: readonly FormFamily[]): (text: string) => string {
  const signs = [...new Set(families.flatMap((family) => family.signs))];
  // Names of members and headers are shorter than most secrets.
  const shortestSign = signs.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY);
  const patterns = new Map<string, RegExp>();
  let anySign: RegExp | undefined;
  let searched = 0;

  function hasSign(text: string): boolean {
    if (text.length < shortestSign) return false;
    searched += text.length + perCall;
    if (searched <= fewCharacters) return signs.some((sign) => text.includes(sign));
    anySign ??= new RegExp(signs.map((sign) => RegExp.escape(sign)).join('|'));
    return anySign.test(text);
  }

  return (text) => {
    if (!hasSign(text)) return text;
    const found = families.map(({ signs }) => signs.some((sign) => text.includes(sign)));
    const which = found.join();
    const pattern = patterns.get(which) ?? toPattern(families.filter((_, index) => found[index]));
    patterns.set(which, pattern);
    return text.replace(pattern, redacted);
  };
}

/** One for all that may be there: a secret can be a part of another one, and all of that has to go. */
function toPattern(families: readonly FormFamily[]): RegExp {
  const forms = new Set(families.flatMap((family) => [...family.forms()]));
  // The longest first: an alternation takes the first that fits.
  const all = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(all.map(patternOf).join('|'), 'g');
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

function toLatin1({ signs, forms }: FormFamily): FormFamily {
  return { signs: signs.map(utf8AsLatin1), forms: () => [...forms()].map(utf8AsLatin1) };
}

function utf8AsLatin1(secret: string): string {
  return Buffer.from(secret.toWellFormed()).toString('latin1');
}
