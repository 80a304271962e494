import type { QueryOf } from '../create-api.ts';
import type { CredentialProfileCreate, CredentialProfileUpdate, PluginsApi } from '../generated/plugins-api.ts';
import type { Calls } from '../transport/calls.ts';
import type { RequestOptions } from '../transport/transport.ts';

export type CredentialProfiles = ReturnType<typeof createCredentialProfiles>;

/** Credentials that the service stores under a name. No response holds them. Changes need the scope `admin`. */
export function createCredentialProfiles(calls: Calls<PluginsApi>) {
  const one = '/v1/credential_profiles/{name}' as const;
  return {
    list: (query: QueryOf<PluginsApi, 'GET /v1/credential_profiles'> = {}, options: RequestOptions = {}) =>
      calls.list('GET /v1/credential_profiles', { query }, (profile) => profile.credential_profile_id, options),
    create: (body: CredentialProfileCreate, options: RequestOptions = {}) =>
      calls.data('POST /v1/credential_profiles', { body }, options),
    get: (name: string, options: RequestOptions = {}) => calls.data(`GET ${one}`, { path: { name } }, options),
    /** Replaces the credentials of a profile. */
    update: (name: string, body: CredentialProfileUpdate, options: RequestOptions = {}) =>
      calls.data(`POST ${one}`, { path: { name }, body }, options),
    delete: (name: string, options: RequestOptions = {}) => calls.done(`DELETE ${one}`, { path: { name } }, options),
  };
}
