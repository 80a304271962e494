import { credentialProfileOperations } from '@quartermaster/contract/operations';
import { acknowledgement, listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard } from '../../platform/http/guard.ts';
import { withScope } from '../../platform/with-scope.ts';
import type { CredentialProfiles } from './credential-profiles.ts';

export interface CredentialProfileRoutesDeps {
  readonly profiles: CredentialProfiles;
  readonly guard: Guard;
}

const url = '/v1/credential_profiles';

/** Routes of credential profiles. Keys with scope `plugins:read` list names; keys with scope `admin` change profiles. ADR 0029. */
export function credentialProfileRoutes(app: App, deps: CredentialProfileRoutesDeps): void {
  readingRoutes(app, deps);
  changingRoutes(app, deps);
}

function readingRoutes(app: App, { profiles, guard }: CredentialProfileRoutesDeps): void {
  app.get(url, withScope(guard, credentialProfileOperations.listCredentialProfiles), async (request) => {
    const list = listEnvelope(await profiles.list(guard.callerOf(request), request.query));
    return { ...list, encryption_configured: profiles.isEncryptionConfigured };
  });
  app.get(`${url}/:name`, withScope(guard, credentialProfileOperations.getCredentialProfile), async (request) => {
    const data = await profiles.get(guard.callerOf(request), request.params.name);
    return successEnvelope(data);
  });
}

function changingRoutes(app: App, { profiles, guard }: CredentialProfileRoutesDeps): void {
  app.post(url, withScope(guard, credentialProfileOperations.createCredentialProfile), async (request) => {
    const data = await profiles.create(guard.callerOf(request), request.body);
    await request.server.audit.record(request, { action: 'credential_profile.created', id: data.name });
    return successEnvelope(data);
  });
  app.post(`${url}/:name`, withScope(guard, credentialProfileOperations.updateCredentialProfile), async (request) => {
    const data = await profiles.update(guard.callerOf(request), request.params.name, request.body.credentials);
    await request.server.audit.record(request, { action: 'credential_profile.changed', id: data.name });
    return successEnvelope(data);
  });
  app.delete(`${url}/:name`, withScope(guard, credentialProfileOperations.deleteCredentialProfile), async (request) => {
    const { name } = request.params;
    await profiles.remove(guard.callerOf(request), name);
    await request.server.audit.record(request, { action: 'credential_profile.deleted', id: name });
    return acknowledgement;
  });
}
