import { describeOperations } from './operation.ts';

const who = 'Requires a session of an administrator of the service; keys are not accepted.';

export const installedBundleOperations = describeOperations('bundles', {
  planBundle: {
    summary: 'Plan the installation of a package',
    description: `${who} Downloads the package, verifies its integrity, reads it in a sandbox, and finds by a dry run where its requests hold the credential. Nothing is installed. The plan expires after one hour.`,
    examples: {
      piece: { body: { source: { kind: 'piece', package: '@activepieces/piece-slack', version: '0.17.9' } } },
    },
  },
  installBundle: {
    summary: 'Install a planned bundle, or update the installed one',
    description: `${who} The digest confirms what the plan shows. The lists that the request sends replace those of the plan.`,
    examples: { bundle: { body: { digest: '$BUNDLE_DIGEST' } } },
  },
  listInstalledBundles: {
    summary: 'List the bundles that were installed from packages',
    description: `${who} \`GET /v1/bundles\` of the plugins address lists all bundles.`,
    examples: { bundles: {} },
  },
  removeInstalledBundle: {
    summary: 'Remove a bundle that was installed from a package',
    description: `${who} Runs in progress finish. Credential profiles of the bundle stay.`,
    examples: { bundle: { path: { bundle_id: 'piece_slack' } } },
  },
});
