import type { MinimumRate } from '../concurrency/minimum-rate.ts';
import { mayHaveLargeNumbers, parseExactJson, TooManyLargeNumbers } from '../json/exact-json.ts';
import { withPlainNames } from '../json/parse-json.ts';
import { Problem } from '../problem.ts';
import { findExceededBound, type JsonBounds } from '../validation/json-bounds.ts';
import type { App } from './app.ts';
import { numberTooLarge } from './json-numbers.ts';
import { readText } from './read-text.ts';

/**
 * Larger bodies are refused before any code traverses the value. `members` counts members of objects and items of
 * arrays.
 */
const jsonLimits = {
  depth: 64,
  /** Every later step visits each member. */
  members: 50_000,
  /** Names that need an escape are parsed separately, at twenty times the cost of others. */
  escapedNames: 10_000,
  /** Integers beyond 2^53 are parsed separately, at about the same cost. */
  largeNumbers: 10_000,
} as const;

/**
 * Parses `application/json` only: bounded in depth and members, without `__proto__` and without numbers that JavaScript
 * cannot represent. An empty body counts as none, because clients send it with deletes. A body that arrives more slowly
 * than `minimumRate` is refused with 408.
 */
export function readJson(app: App, minimumRate: MinimumRate): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    readText(payload, { maxBytes: request.routeOptions.bodyLimit, minimumRate }, (failure, body) => {
      if (failure !== null) return done(failure);
      if (body.trim() === '') return done(null, undefined);
      const exceeded = findExceededBound(body, jsonLimits);
      if (exceeded !== null) return done(tooMuch[exceeded]());
      const named = withPlainNames(body, jsonLimits.escapedNames);
      if (named === null) return done(new Problem('INVALID_REQUEST', tooManyNames));
      const { text, restore } = named;
      return parse(request, text, (error, plain) => {
        if (error !== null) return done(notRead(body));
        const value = restore(plain);
        const refusal = numberTooLarge(body, value);
        if (refusal !== undefined) return done(refusal);
        if (!keepsIntegers(request.routeOptions.url) || !mayHaveLargeNumbers(text)) return done(null, value);
        const exact = readExact(text);
        return exact instanceof Problem ? done(exact) : done(null, restore(exact));
      });
    });
  });
}

function readExact(text: string): unknown {
  try {
    return parseExactJson(text, jsonLimits.largeNumbers);
  } catch (error) {
    if (error instanceof TooManyLargeNumbers) return new Problem('INVALID_REQUEST', tooManyLargeNumbers);
    throw error;
  }
}

/** Whether a route passes numbers to plugins. Other routes store and compare numbers as doubles. */
function keepsIntegers(route = ''): boolean {
  return /\/(?:execute|mcp(?:\/:bundle_id)?\/?)$/.test(route);
}

/** The error names the position and never the text, because malformed JSON may contain a credential. */
function notRead(body: string): Problem {
  try {
    JSON.parse(body);
    return new Problem('INVALID_REQUEST', 'The body must not contain a property named "__proto__" or "constructor".');
  } catch (error) {
    const message = String(error);
    const place = message.includes('Unexpected end of')
      ? '(it ends too early)'
      : /\(line \d+ column \d+\)/.exec(message)?.[0];
    return new Problem(
      'INVALID_REQUEST',
      `The body must be valid JSON; received a syntax error${place === undefined ? '' : ` ${place}`}.`,
    );
  }
}

const tooManyNames = `The body must have at most ${jsonLimits.escapedNames} property names with a quotation mark, a backslash or a control character; received more.`;

const tooManyLargeNumbers = `The body must have at most ${jsonLimits.largeNumbers} integers beyond 2^53; received more.`;

const tooMuch: Readonly<Record<keyof JsonBounds, () => Problem>> = {
  depth: () =>
    new Problem(
      'INVALID_REQUEST',
      `The body must be nested at most ${jsonLimits.depth} levels deep; received deeper nesting.`,
    ),
  members: () =>
    new Problem(
      'INVALID_REQUEST',
      `The body must have at most ${jsonLimits.members} properties and items; received more.`,
    ),
};
