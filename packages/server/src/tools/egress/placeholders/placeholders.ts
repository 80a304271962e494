import { randomBytes } from 'node:crypto';
import { once } from '../../../platform/concurrency/once.ts';
import { createPieceFinder } from '../redact/find-pieces.ts';
import { RedactionRefused } from '../redact/redaction-budget.ts';
import { undoEscapes } from './undo-escapes.ts';

/** The characters have the same form in every notation of URLs, JSON, HTML and base64, so that few searches find all of them. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const prefix = 'qmph';

/** Creates an unpredictable text (160 bits) that stands for one secret in one run. */
export function createPlaceholder(): string {
  return prefix + Array.from(randomBytes(32), (byte) => alphabet[byte % alphabet.length]).join('');
}

/** Finds placeholders in what a request holds, also encoded, reversed or cut. */
export interface PlaceholderFinder {
  isIn(value: string | Uint8Array): boolean;
}

/** A part of a placeholder of this length counts as a placeholder. It is long enough never to occur by chance. */
const shortestPart = 10;

/** Longer values are searched for whole placeholders only, without undoing escapes. */
const longest = 1024 * 1024;

/**
 * Finds the parts of placeholders in plain text and in hexadecimal, base64 and base64url at any alignment, forwards and reversed.
 * Escapes are undone first, and all but letters and digits is left out, so that a split placeholder is found too. It finds no other
 * encodings. They do no harm, because only exact placeholders are replaced.
 */
export function createPlaceholderFinder(placeholders: Iterable<string>): PlaceholderFinder {
  const all = [...placeholders].flatMap((one) => [one, [...one].reverse().join('')]);
  const finder = once(() => createPieceFinder(all.flatMap(partsOf).flatMap(encodings)));
  return {
    isIn(value) {
      if (value.length < shortestPart || all.length === 0) return false;
      if (value.length > longest) {
        const bytes = Buffer.from(value);
        return all.flatMap(encodings).some((form) => bytes.includes(form));
      }
      const dense = undoEscapes(Buffer.from(value))
        .toString('latin1')
        .replace(/[^A-Za-z0-9]+/g, '');
      const lowered = dense.toLowerCase();
      try {
        return finder().has(dense) || (lowered !== dense && finder().has(lowered));
      } catch (error) {
        if (error instanceof RedactionRefused) return true;
        throw error;
      }
    },
  };
}

function partsOf(text: string): string[] {
  return Array.from({ length: text.length - shortestPart + 1 }, (_, at) => text.slice(at, at + shortestPart));
}

function encodings(text: string): string[] {
  return [text, Buffer.from(text).toString('hex'), ...[0, 1, 2].map((offset) => base64Within(text, offset))];
}

/** The characters of base64 that depend on this text only, when it stands at this offset of a longer one. */
function base64Within(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}
