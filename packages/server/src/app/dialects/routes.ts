import type { App } from '../../platform/http/app.ts';
import { type DifyRoutesDeps, difyRoutes } from './dify/routes.ts';
import { type OpenWebUiRoutesDeps, openWebUiRoutes } from './open-webui/routes.ts';

/** Registers the routes in the form of other programs. Source: docs/contract.md "Dialects". */
export function dialectRoutes(app: App, deps: DifyRoutesDeps & OpenWebUiRoutesDeps): void {
  // Each dialect has a scope of its own for its form of errors, also for unknown paths, and its body parsers.
  app.register(async (scope: App) => difyRoutes(scope, deps), { prefix: '/dify' });
  app.register(async (scope: App) => openWebUiRoutes(scope, deps), { prefix: '/openwebui' });
}
