import { describeOperations } from './operation.ts';

const who = 'Requires a session of an administrator of the service; keys are not accepted.';

const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1.0.0' },
  servers: [{ url: 'https://api.open-meteo.com' }],
  paths: { '/now': { get: { operationId: 'now', responses: { 200: { description: 'The weather.' } } } } },
});

export const installedBundleOperations = describeOperations('bundles', {
  searchPackages: {
    summary: 'Search the registry for packages of pieces',
    description: `${who} A registry without a search finds exact names only.`,
    examples: { packages: { query: { query: 'slack' } } },
  },
  planBundle: {
    summary: 'Plan the installation of a package, an API, an MCP server or an archive',
    description: `${who} Downloads a package, verifies its integrity, reads it in a sandbox, and finds by a dry run where its requests hold the credential. Converts an OpenAPI document, or the tools of an MCP server, to a bundle without code. Verifies the signature of an archive. Nothing is installed. The plan expires after one hour.`,
    examples: {
      document: {
        summary: 'Plan a bundle from an OpenAPI document',
        body: { source: { kind: 'openapi', content: document } },
      },
      piece: {
        summary: 'Plan the installation of a package',
        body: { source: { kind: 'piece', package: '@activepieces/piece-slack', version: '0.17.9' } },
      },
    },
  },
  installBundle: {
    summary: 'Install a planned bundle, or update the installed one',
    description: `${who} The digest confirms what the plan shows. The lists that the request sends replace those of the plan.`,
    examples: { bundle: { body: { digest: '$BUNDLE_DIGEST' } } },
  },
  listInstalledBundles: {
    summary: 'List the bundles that were installed by a plan',
    description: `${who} \`GET /v1/bundles\` of the plugins address lists all bundles.`,
    examples: { bundles: {} },
  },
  removeInstalledBundle: {
    summary: 'Remove an installed bundle',
    description: `${who} Runs in progress finish. Credential profiles of the bundle stay.`,
    examples: { bundle: { path: { bundle_id: 'piece_slack' } } },
  },
});
