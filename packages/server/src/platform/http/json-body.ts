import type { IncomingMessage } from 'node:http';
import { errorCodes } from 'fastify';
import { type MinimumRate, watchRate } from '../concurrency/minimum-rate.ts';
import { mayHaveLargeNumbers, parseExactJson, TooManyLargeNumbers } from '../json/exact-json.ts';
import { isJsonObject } from '../json/json-object.ts';
import { withPlainNames } from '../json/parse-json.ts';
import { Problem } from '../problem.ts';
import { findExceededBound, type JsonBounds } from '../validation/json-bounds.ts';
import { fieldInvalid } from '../validation/validation-error.ts';
import type { App } from './app.ts';

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

/** Only a number with these digits or exponents can be too large. Most bodies contain none and are not traversed. */
const mayBeTooLarge = /[eE]\+?\d{3}|(?<!\d)\d{200}/;

/**
 * JSON allows 1e999, JavaScript converts it to infinity, and JSON writes that as null. The stored value would therefore
 * differ.
 * @param value the value parsed from `text`
 */
function numberTooLarge(text: string, value: unknown): Problem | undefined {
  const path = mayBeTooLarge.test(text) ? findInfinite(value, 'body') : undefined;
  if (path === undefined) return undefined;
  return fieldInvalid(path, 'a larger number', `a number up to ${Number.MAX_VALUE}`);
}

function findInfinite(value: unknown, path: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (!isJsonObject(value) && !Array.isArray(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = findInfinite(member, `${path}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface TextLimits {
  readonly maxBytes: number;
  readonly minimumRate: MinimumRate;
}

/**
 * A request below the minimum rate of uploads is refused with 408. (`files/upload/receive-body.ts` handles uploads.)
 */
const tooSlow = (reason: string) =>
  new Problem('REQUEST_TIMEOUT', `The request body arrived too slowly: ${reason}. Retry the request.`);

/** Reads a whole body as UTF-8. Calls `done` once, with the errors of Fastify's own reader, or with REQUEST_TIMEOUT. */
function readText(
  request: IncomingMessage,
  { maxBytes, minimumRate }: TextLimits,
  done: (error: Error | null, text: string) => void,
): void {
  const wrongLength = () => new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH();
  if (isTooLong(request, maxBytes)) {
    done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE(), '');
    return;
  }
  if (request.destroyed) {
    done(wrongLength(), '');
    return;
  }
  const declared = request.headers['content-length'];
  const chunks: Buffer[] = [];
  let bytes = 0;
  const watch = watchRate(minimumRate, (reason) => settle(tooSlow(reason)));

  function settle(error: Error | null): void {
    watch.stop();
    request.off('data', onData).off('end', onEnd).off('close', onClose);
    done(error, error === null ? Buffer.concat(chunks, bytes).toString('utf8') : '');
  }
  function onData(chunk: Buffer): void {
    bytes += chunk.length;
    watch.count(chunk.length);
    if (bytes > maxBytes) settle(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    else chunks.push(chunk);
  }
  const onEnd = () => settle(declared === undefined || Number(declared) === bytes ? null : wrongLength());
  const onClose = () => settle(wrongLength());
  request.on('data', onData).on('end', onEnd).on('close', onClose);
}

/** Whether the declared length of a body is above a limit. */
export function isTooLong({ headers }: IncomingMessage, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > maxBytes;
}
