import { describeOperations } from './operation.ts';

const credentials = { OPEN_WEATHER_API_KEY: '$OPEN_WEATHER_API_KEY' };
const path = { name: 'weather' };

export const credentialProfileOperations = describeOperations('credentials', {
  listCredentialProfiles: {
    summary: 'List the credential profiles of the project',
    description:
      'The credentials themselves are never shown. `encryption_configured` is false while the service has no encryption key and stores no credentials.',
    scope: 'plugins:read',
    examples: { profiles: {} },
  },
  createCredentialProfile: {
    summary: 'Store credentials under a name',
    description:
      'The credentials are encrypted and checked against `credentials_schema` of the bundle. Use them as `"credentials": {"$profile": "NAME"}` of `execute`.',
    scope: 'admin',
    examples: { weather: { body: { name: 'weather', bundle_id: 'open_weather', credentials } } },
  },
  getCredentialProfile: {
    summary: 'Get a credential profile',
    description: 'The credentials themselves are never shown.',
    scope: 'plugins:read',
    examples: { weather: { path } },
  },
  updateCredentialProfile: {
    summary: 'Replace the credentials of a profile',
    scope: 'admin',
    examples: { weather: { path, body: { credentials } } },
  },
  deleteCredentialProfile: {
    summary: 'Delete a credential profile and its credentials',
    scope: 'admin',
    examples: { weather: { path } },
  },
});
