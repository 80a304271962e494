import { Problem } from '../kernel/problem.ts';
import type { App } from './app.ts';

/** Nesting beyond this is refused before anything walks the value. */
const maxDepth = 64;

/** Reads `application/json`: bounded in depth, no `__proto__`, and an empty body counts as none (deletes send that). */
export function readJson(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.trim() === '') return done(null, undefined);
    if (isDeeperThan(body, maxDepth)) {
      return done(new Problem('INVALID_REQUEST', `The body is nested deeper than ${maxDepth} levels.`));
    }
    return parse(request, body, done);
  });
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
