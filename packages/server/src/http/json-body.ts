import type { Pace } from '../kernel/pace.ts';
import { withPlainNames } from '../kernel/parse-json.ts';
import { Problem } from '../kernel/problem.ts';
import type { App } from './app.ts';
import { numberTooLarge } from './json-numbers.ts';
import { readText } from './read-text.ts';

/** Nesting beyond this is refused before anything walks the value. */
export const maxDepth = 64;

/**
 * Reads `application/json` and nothing else: bounded in depth, no `__proto__`, no number that JavaScript cannot hold, and
 * an empty body counts as none (deletes send that). A body that arrives more slowly than `pace` is refused with 408.
 */
export function readJson(app: App, pace: Pace): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    readText(payload, { maxBytes: request.routeOptions.bodyLimit, pace }, (failure, body) => {
      if (failure !== null) return done(failure);
      if (body.trim() === '') return done(null, undefined);
      if (isDeeperThan(body, maxDepth)) {
        return done(new Problem('INVALID_REQUEST', `The body is nested deeper than ${maxDepth} levels.`));
      }
      const { text, restore } = withPlainNames(body);
      return parse(request, text, (error, plain) => {
        if (error !== null) return done(notRead(body));
        const value = restore(plain);
        return done(numberTooLarge(body, value) ?? null, value);
      });
    });
  });
}

/** Says where, never what: a text that is no JSON may still hold a credential. */
function notRead(body: string): Problem {
  try {
    JSON.parse(body);
    return new Problem('INVALID_REQUEST', 'A member of the body named "__proto__" or "constructor" is not taken.');
  } catch (error) {
    const said = String(error);
    const place = said.includes('Unexpected end of')
      ? '(it ends too early)'
      : /\(line \d+ column \d+\)/.exec(said)?.[0];
    return new Problem('INVALID_REQUEST', `The body is not valid JSON${place === undefined ? '' : ` ${place}`}.`);
  }
}

function isDeeperThan(json: string, limit: number): boolean {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (inText) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inText = false;
    } else if (code === 0x22) inText = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
