import {
  Acknowledgement,
  CredentialProfile,
  CredentialProfileCreate,
  CredentialProfileList,
  CredentialProfileUpdate,
  ListQuery,
  Success,
} from '@quartermaster/contract';
import { credentialProfileOperations } from '@quartermaster/contract/operations';
import { Type } from 'typebox';
import { acknowledgement, listEnvelope, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Guard } from '../../platform/http/guard.ts';
import type { CredentialProfiles } from './credential-profiles.ts';

export interface CredentialProfileRoutesDeps {
  readonly profiles: CredentialProfiles;
  readonly guard: Guard;
}

const url = '/v1/credential_profiles';
const Params = Type.Object({ name: Type.String({ minLength: 1, maxLength: 64, description: 'Of the profile.' }) });
const security = [{ apiKey: [] }];

/** Routes of credential profiles. Keys with scope `plugins:read` list names; keys with scope `admin` change profiles. ADR 0029. */
export function credentialProfileRoutes(app: App, deps: CredentialProfileRoutesDeps): void {
  readingRoutes(app, deps);
  changingRoutes(app, deps);
}

function readingRoutes(app: App, { profiles, guard }: CredentialProfileRoutesDeps): void {
  const onRequest = guard.requires('plugins:read');
  app.get(
    url,
    {
      onRequest,
      schema: {
        ...credentialProfileOperations.listCredentialProfiles,
        security,
        querystring: ListQuery,
        response: { 200: CredentialProfileList },
      },
    },
    async (request) => {
      const list = listEnvelope(await profiles.list(guard.callerOf(request), request.query));
      return { ...list, encryption_configured: profiles.isEncryptionConfigured };
    },
  );
  app.get(
    `${url}/:name`,
    {
      onRequest,
      schema: {
        ...credentialProfileOperations.getCredentialProfile,
        security,
        params: Params,
        response: { 200: Success(CredentialProfile) },
      },
    },
    async (request) => {
      const data = await profiles.get(guard.callerOf(request), request.params.name);
      return successEnvelope(data);
    },
  );
}

function changingRoutes(app: App, { profiles, guard }: CredentialProfileRoutesDeps): void {
  const onRequest = guard.requires('admin');
  const response = { 200: Success(CredentialProfile) };
  app.post(
    url,
    {
      onRequest,
      schema: {
        ...credentialProfileOperations.createCredentialProfile,
        security,
        body: CredentialProfileCreate,
        response,
      },
    },
    async (request) => {
      const data = await profiles.create(guard.callerOf(request), request.body);
      await request.server.audit.record(request, { action: 'credential_profile.created', id: data.name });
      return successEnvelope(data);
    },
  );
  app.post(
    `${url}/:name`,
    {
      onRequest,
      schema: {
        ...credentialProfileOperations.updateCredentialProfile,
        security,
        params: Params,
        body: CredentialProfileUpdate,
        response,
      },
    },
    async (request) => {
      const data = await profiles.update(guard.callerOf(request), request.params.name, request.body.credentials);
      await request.server.audit.record(request, { action: 'credential_profile.changed', id: data.name });
      return successEnvelope(data);
    },
  );
  app.delete(
    `${url}/:name`,
    {
      onRequest,
      schema: {
        ...credentialProfileOperations.deleteCredentialProfile,
        security,
        params: Params,
        response: { 200: Acknowledgement },
      },
    },
    async (request) => {
      const { name } = request.params;
      await profiles.remove(guard.callerOf(request), name);
      await request.server.audit.record(request, { action: 'credential_profile.deleted', id: name });
      return acknowledgement;
    },
  );
}
