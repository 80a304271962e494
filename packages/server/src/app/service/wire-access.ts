import { peopleRoutes } from '../../access/accounts/people-routes.ts';
import { accountRoutes } from '../../access/accounts/routes.ts';
import { projectRoutes } from '../../access/projects/routes.ts';
import { readRoleRule } from '../../access/sign-in/claimed-access.ts';
import { createIdentityProvider } from '../../access/sign-in/identity-provider.ts';
import { createPendingSignIns } from '../../access/sign-in/pending-sign-ins.ts';
import { createSignInCounter, signInRoutes, signInWaysRoute } from '../../access/sign-in/routes.ts';
import type { App } from '../../platform/http/app.ts';
import { version } from '../../platform/version.ts';
import { createOauthRepository } from '../../storage/repositories/oauth-repository.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import { createBroker } from '../../tools/egress/create-broker.ts';
import { isConsolePath } from '../console/routes.ts';
import type { ServiceContext } from './context.ts';
import type { Access } from './open-access.ts';
import { serveAudit } from './wire-audit.ts';
import { openTokens, serveOauth } from './wire-oauth.ts';

/** Serves accounts, projects, and the sign-in of people and applications. */
export function serveAccess(context: ServiceContext, app: App, access: Access): void {
  accountRoutes(app, access);
  peopleRoutes(app, { people: access.people, guard: access.projectRoutes.guard, clock: context.clock });
  projectRoutes(app, access.projectRoutes);
  serveOauth(context, app, access);
  serveSignIn(context, app, access);
  serveAudit(context, app, access.projectRoutes.guard);
}

/** Serves the sign-in with the identity provider of the settings, if there is one. */
function serveSignIn(context: ServiceContext, app: App, access: Access): void {
  const { config, clock, logger, database } = context;
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcRolesClaim: rolesClaim } = config;
  signInWaysRoute(app, issuer);
  const signIns = createSignInCounter(context.registry);
  if (issuer === null || clientId === null) return;
  const outbound = createBroker({ overrides: config.egressOverrides, allow: config.egressAllow, version, logger });
  context.resources.defer(() => outbound.close());
  const identity = { issuer, clientId, clientSecret: config.oidcClientSecret, rolesClaim, outbound, clock };
  signInRoutes(app, {
    ...access,
    provider: createIdentityProvider(identity),
    pending: createPendingSignIns({ repository: createOauthRepository(database), clock }),
    resources: openTokens(context, 'files').resources,
    listProjects: createProjectRepository(database).listProjects,
    isPage: (path) => isConsolePath(path) && !/^\/(?:sign-in|setup)/.test(path),
    allowedDomains: config.oidcAllowedDomains,
    rolesClaim,
    rules: config.oidcRoles.flatMap((text) => readRoleRule(text) ?? []),
    signIns,
  });
}
