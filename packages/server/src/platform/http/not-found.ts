import { Problem, pathNotFound } from '../problem.ts';
import type { App } from './app.ts';

/** Responds with 404 for unknown paths, and with 405 and `Allow` for methods that a path does not support. */
export function handleNotFound(app: App): void {
  const routes: Array<{ pattern: RegExp; methods: readonly string[] }> = [];
  app.addHook('onRoute', (route) => {
    routes.push({ pattern: patternOf(route.url), methods: [route.method].flat().map(String) });
  });
  app.setNotFoundHandler((request) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set(routes.filter((route) => route.pattern.test(path)).flatMap((route) => route.methods));
    if (methods.size === 0) throw pathNotFound();
    const allow = [...methods].sort().join(', ');
    throw new Problem('METHOD_NOT_ALLOWED', `${request.method} is not allowed here. Allowed methods: ${allow}.`, {
      headers: { Allow: allow },
    });
  });
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');
  // composed: the paths are fixed, and a parameter ends at the next slash, so there is only one way to match.
  return new RegExp(`^${source}$`);
}
