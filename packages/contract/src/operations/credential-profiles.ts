import { Type } from 'typebox';
import {
  CredentialProfile,
  CredentialProfileCreate,
  CredentialProfileList,
  CredentialProfileUpdate,
} from '../credential-profiles.ts';
import { Acknowledgement, ListQuery, Success } from '../envelope.ts';
import { describeOperations } from './operation.ts';

const security = [{ apiKey: [] }];
const Params = Type.Object({ name: Type.String({ minLength: 1, maxLength: 64, description: 'Of the profile.' }) });

const credentials = { OPEN_WEATHER_API_KEY: '$OPEN_WEATHER_API_KEY' };
const path = { name: 'weather' };

export const credentialProfileOperations = describeOperations('credentials', {
  listCredentialProfiles: {
    summary: 'List the credential profiles of the project',
    description:
      'The credentials themselves are never shown. `encryption_configured` is false while the service has no encryption key and stores no credentials.',
    scope: 'plugins:read',
    security,
    querystring: ListQuery,
    response: { 200: CredentialProfileList },
    examples: { profiles: {} },
  },
  createCredentialProfile: {
    summary: 'Store credentials under a name',
    description:
      'The credentials are encrypted and checked against `credentials_schema` of the bundle. Use them as `"credentials": {"$profile": "NAME"}` of `execute`.',
    scope: 'admin',
    security,
    body: CredentialProfileCreate,
    response: { 200: Success(CredentialProfile) },
    examples: { weather: { body: { name: 'weather', bundle_id: 'open_weather', credentials } } },
  },
  getCredentialProfile: {
    summary: 'Get a credential profile',
    description: 'The credentials themselves are never shown.',
    scope: 'plugins:read',
    security,
    params: Params,
    response: { 200: Success(CredentialProfile) },
    examples: { weather: { path } },
  },
  updateCredentialProfile: {
    summary: 'Replace the credentials of a profile',
    scope: 'admin',
    security,
    params: Params,
    body: CredentialProfileUpdate,
    response: { 200: Success(CredentialProfile) },
    examples: { weather: { path, body: { credentials } } },
  },
  deleteCredentialProfile: {
    summary: 'Delete a credential profile and its credentials',
    description: 'Other examples use the profile `weather`: run them first.',
    scope: 'admin',
    security,
    params: Params,
    response: { 200: Acknowledgement },
    examples: { weather: { path } },
  },
});
