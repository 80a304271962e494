import { describeOperations } from './operation.ts';

const path = { connection_id: '$CONNECTION_ID' };

export const connectionOperations = describeOperations('connections', {
  createConnection: {
    summary: 'Create a connection and its link',
    description:
      'Send the link to the end user, who connects an account in the browser. The link works once, in one browser, and expires after 30 minutes. Use the connection as `"credentials": {"$connection": "ID"}` of `execute`.',
    scope: 'connections',
    examples: { weather: { body: { bundle_id: 'open_weather', end_user: 'user-42' } } },
  },
  listConnections: {
    summary: 'List the connections of the project',
    scope: 'connections',
    examples: { connections: { query: { end_user: 'user-42' } } },
  },
  getConnection: {
    summary: 'Get a connection',
    description: 'Its credentials are never shown.',
    scope: 'connections',
    examples: { connection: { path } },
  },
  createConnectionLink: {
    summary: 'Create another link of a connection',
    description: 'The end user connects again, for example when `status` is `reconnect_required`.',
    scope: 'connections',
    examples: { link: { path, body: {} } },
  },
  confirmConnection: {
    summary: 'Confirm whose browser has connected an account',
    description:
      'Needed for links with `return_url`. Send the `confirmation` of the return URL and the id of the user who is signed in there. If it is not the end user of the connection, the answer is 403, and the service revokes the access.',
    scope: 'connections',
    examples: { confirmation: { path, body: { confirmation: '$CONFIRMATION', end_user: 'user-42' } } },
  },
  deleteConnection: {
    summary: 'Revoke and delete a connection',
    description:
      'The service asks the provider to revoke the access, and erases the tokens even if the provider does not answer within 5 seconds.',
    scope: 'connections',
    examples: { connection: { path } },
  },
  deleteEndUser: {
    summary: 'Revoke and delete all connections of an end user',
    scope: 'connections',
    examples: { user: { path: { end_user: 'user-42' } } },
  },
});

const who = 'Requires a session of an administrator of the service; keys are not accepted.';

export const bundleOauthClientOperations = describeOperations('connections', {
  getBundleOauthClient: {
    summary: 'Get the OAuth client of a bundle',
    description: `${who} The secret is never shown.`,
    examples: { client: { path: { bundle_id: 'slack' } } },
  },
  setBundleOauthClient: {
    summary: 'Set the OAuth client of a bundle',
    description: `${who} Register the client with the third party first, with \`redirect_uri\`. It serves all projects.`,
    examples: {
      client: { path: { bundle_id: 'slack' }, body: { client_id: '1234.5678', client_secret: '$OAUTH_CLIENT_SECRET' } },
    },
  },
  deleteBundleOauthClient: {
    summary: 'Delete the OAuth client of a bundle',
    description: `${who} Its connections stay, but cannot be refreshed.`,
    examples: { client: { path: { bundle_id: 'slack' } } },
  },
});
