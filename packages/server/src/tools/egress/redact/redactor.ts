import { once } from '../../../platform/concurrency/once.ts';
import { createPieceFinder, type PieceFinder, shortestPiece } from './find-pieces.ts';
import { createCharacterBudget } from './redaction-budget.ts';
import { createRedactionStream, type RedactionStream, type Replacer } from './redaction-stream.ts';
import { type FormFamily, familiesOf, familiesOfBytes } from './secret-forms.ts';

/** Replaces secrets, in the usual encodings, with `[redacted]`. */
export interface Redactor {
  text(value: string): string;
  /** Returns the same Buffer when it holds no secret. */
  bytes(value: Buffer): Buffer;
  /** Redacts bytes that arrive in chunks as `bytes` redacts them together. */
  stream(): RedactionStream;
  /** Redacts every string and key of a JSON value. Returns the same value when it holds no secret. */
  deep<T>(value: T): T;
  /** Adds secrets. Only growing redactors have it. */
  learn?(secrets: Iterable<string | Uint8Array>): void;
}

export const redacted = '[redacted]';

/** Shorter secrets, such as a PIN, cannot be distinguished from ordinary text and are not redacted. */
const shortest = 4;
/** Secrets of at least this length are replaced everywhere. Shorter ones only where no letter or digit is adjacent. */
const anywhere = 8;

/** Redacts nothing, for calls without credentials. */
export const noSecrets: Redactor = {
  text: (value) => value,
  bytes: (value) => value,
  stream: () => ({ push: (chunk) => chunk, end: () => Buffer.alloc(0) }),
  deep: (value) => value,
};

/**
 * Creates a redactor for the secrets of one run. It finds the forms that `familiesOf` lists, and no other forms that an upstream
 * may use.
 */
export function createRedactor(secrets: Iterable<string | Uint8Array>): Redactor {
  const values = [...secrets].filter((secret) => secret.length >= shortest);
  if (values.length === 0) return noSecrets;
  const counted = createCharacterBudget();
  const families = once(() =>
    values
      .flatMap((secret) => (typeof secret === 'string' ? familiesOf(secret) : familiesOfBytes(secret)))
      .map(({ signs, forms }) => ({ signs: [...counted(signs)], forms: once(() => [...new Set(counted(forms()))]) })),
  );
  const ofText = createReplacer(families);
  // Bytes are searched as Latin-1, so a non-ASCII secret is searched as the Latin-1 reading of its UTF-8 bytes.
  const isAscii = values.every((secret) => typeof secret !== 'string' || /^[\x00-\x7f]*$/.test(secret));
  const ofBytes = isAscii ? ofText : createReplacer(() => families().map(toLatin1));

  function bytes(value: Buffer): Buffer {
    const before = value.toString('latin1');
    const after = ofBytes.replace(before);
    return after === before ? value : Buffer.from(after, 'latin1');
  }
  return {
    text: ofText.replace,
    bytes,
    stream: () => createRedactionStream(ofBytes),
    deep: (value) => redactDeep(value, ofText.replace) as typeof value,
  };
}

/** Creates a redactor that accepts further secrets during the run, such as access tokens. */
export function createGrowingRedactor(secrets: Iterable<string | Uint8Array>): Required<Redactor> {
  const known = new Set(secrets);
  let current = createRedactor(known);
  return {
    text: (value) => current.text(value),
    bytes: (value) => current.bytes(value),
    stream: () => current.stream(),
    deep: (value) => current.deep(value),
    learn(more) {
      const before = known.size;
      for (const secret of more) known.add(secret);
      if (known.size > before) current = createRedactor(known);
    },
  };
}

/** Above this number of characters times signs, one pass for all signs is faster. */
const fewComparisons = 256 * 1024;
/** The fixed cost of a call, in characters. */
const perCall = 64;

/** Signs and forms are built on demand, because most texts contain no sign. */
function createReplacer(familiesOfAll: () => readonly FormFamily[]): Replacer {
  const waiting = once(() => new Set(familiesOfAll()));
  const signs = once(() => [...new Set(familiesOfAll().flatMap((family) => family.signs))]);
  // Texts shorter than every sign, such as the names of members and headers, need no search.
  const shortestSign = once(() => signs().reduce((least, { length }) => Math.min(least, length), Infinity));
  const anySign = once(() => createPieceFinder(signs()));
  const inForce: FormFamily[] = [];
  let finder: PieceFinder | undefined;
  let comparisons = 0;

  function hasSign(text: string): boolean {
    if (text.length < shortestPiece || text.length < shortestSign()) return false;
    comparisons += (text.length + perCall) * signs().length;
    return comparisons <= fewComparisons ? signs().some((sign) => text.includes(sign)) : anySign().has(text);
  }

  /** Adds the families whose signs are in the text. They stay, because one secret can be a part of another. */
  function finderFor(text: string): PieceFinder {
    const isShort = text.length * signs().length <= fewComparisons;
    for (const family of waiting()) {
      if (isShort && !family.signs.some((sign) => text.includes(sign))) continue;
      inForce.push(family);
      waiting().delete(family);
      finder = undefined;
    }
    finder ??= createPieceFinder(longEnough(inForce), standsAlone);
    return finder;
  }

  return {
    replace: (text) => (hasSign(text) ? finderFor(text).replace(text, redacted) : text),
    replacePart: (text, part) =>
      hasSign(text)
        ? finderFor(text).replacePart(text, part, redacted)
        : { text: text.slice(part.from, part.limit), end: part.limit },
    longestForm: once(() =>
      familiesOfAll().reduce((most, family) => Math.max(most, ...[...family.forms()].map(({ length }) => length)), 1),
    ),
  };
}

function* longEnough(families: readonly FormFamily[]): Generator<string> {
  for (const family of families) for (const form of family.forms()) if (form.length >= shortestPiece) yield form;
}

/** Whether no letter or digit is adjacent to a short form. */
function standsAlone(text: string, start: number, end: number): boolean {
  if (end - start >= anywhere) return true;
  return !letterOrDigit.test(text[start - 1] ?? '') && !letterOrDigit.test(text[end] ?? '');
}

const letterOrDigit = /[A-Za-z0-9]/;

// The shape of the value stays the same, so the caller's type remains valid.
function redactDeep(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return redactArray(value, text);
  let changed = false;
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    const before = (value as Record<string, unknown>)[key]; // own key of an object
    const after = redactDeep(before, text);
    const name = text(key);
    changed ||= after !== before || name !== key;
    entries.push([name, after]);
  }
  return changed ? Object.fromEntries(entries) : value;
}

function redactArray(value: readonly unknown[], text: (value: string) => string): readonly unknown[] {
  let copy: unknown[] | null = null;
  for (const [index, before] of value.entries()) {
    const after = redactDeep(before, text);
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
