import { once } from '../../kernel/concurrency/once.ts';
import { createPieceFinder, type PieceFinder, shortestPiece } from './find-pieces.ts';
import { createCharacterBudget } from './redaction-budget.ts';
import { type FormFamily, familiesOf, familiesOfBytes } from './secret-forms.ts';

/** Replaces secrets, in the encodings they travel in, with `[redacted]`. */
export interface Redactor {
  text(value: string): string;
  /** The same Buffer when it holds no secret. */
  bytes(value: Buffer): Buffer;
  /** Every string and key of a JSON value; the same value when it holds no secret. */
  deep<T>(value: T): T;
  /** From now on these are replaced as well. Only a redactor that was made to grow has it. */
  learn?(secrets: Iterable<string>): void;
}

export const redacted = '[redacted]';

/** Shorter secrets (a PIN) cannot be told from ordinary text and are left alone. */
const shortest = 4;
/** From this length on a secret is replaced wherever it stands; below only where no letter or digit touches it. */
const anywhere = 8;

/** Finds nothing, changes nothing: for calls without credentials. */
export const noSecrets: Redactor = { text: (value) => value, bytes: (value) => value, deep: (value) => value };

/**
 * A redactor for the secrets of one run. The forms in which they are found are those of `familiesOf`; what an upstream
 * invents beyond that is not found.
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
  const scrubText = createReplacer(families);
  // Bytes are searched as Latin-1, so what is not ASCII is looked for as the Latin-1 of its UTF-8.
  const isAscii = values.every((secret) => typeof secret !== 'string' || /^[\x00-\x7f]*$/.test(secret));
  const scrubBytes = isAscii ? scrubText : createReplacer(() => families().map(toLatin1));

  function bytes(value: Buffer): Buffer {
    const before = value.toString('latin1');
    const after = scrubBytes(before);
    return after === before ? value : Buffer.from(after, 'latin1');
  }
  return { text: scrubText, bytes, deep: (value) => scrubDeep(value, scrubText) as typeof value };
}

/** A redactor for secrets of which some are got on the way, such as access tokens. */
export function createGrowingRedactor(secrets: Iterable<string | Uint8Array>): Required<Redactor> {
  const known = new Set(secrets);
  let current = createRedactor(known);
  return {
    text: (value) => current.text(value),
    bytes: (value) => current.bytes(value),
    deep: (value) => current.deep(value),
    learn(more) {
      const before = known.size;
      for (const secret of more) known.add(secret);
      if (known.size > before) current = createRedactor(known);
    },
  };
}

/** Characters to search, times signs, after which one pass for all signs pays. */
const fewComparisons = 256 * 1024;
/** What a call costs, in characters. */
const perCall = 64;

/** Almost always finds no sign; so signs and forms are built when there is something to search. */
function createReplacer(familiesOfAll: () => readonly FormFamily[]): (text: string) => string {
  const waiting = once(() => new Set(familiesOfAll()));
  const signs = once(() => [...new Set(familiesOfAll().flatMap((family) => family.signs))]);
  // Names of members and headers are shorter than most secrets.
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

  /** Families whose signs are in the text are searched for from now on: a secret can be a part of another one. */
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

  return (text) => (hasSign(text) ? finderFor(text).replace(text, redacted) : text);
}

function* longEnough(families: readonly FormFamily[]): Generator<string> {
  for (const family of families) for (const form of family.forms()) if (form.length >= shortestPiece) yield form;
}

/** A short form counts only where no letter or digit touches it. */
function standsAlone(text: string, start: number, end: number): boolean {
  if (end - start >= anywhere) return true;
  return !letterOrDigit.test(text[start - 1] ?? '') && !letterOrDigit.test(text[end] ?? '');
}

const letterOrDigit = /[A-Za-z0-9]/;

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
