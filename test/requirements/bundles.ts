import type { Requirements } from './requirement.ts';

/** The catalogue, and the creation of bundles. */
export const bundlesRequirements: Requirements = {
  'bundles.list': {
    promise: 'Bundles and plugins are listed in both forms, sorted, with a strong ETag.',
    source: 'docs/contract.md "Catalogue"; docs/contract.md "Bundles and plugins"',
    tests: [
      'GET /v1/bundles lists all bundles by id in the list envelope',
      'both ways of listing the plugins of a bundle return the same records, and that of one plugin is among them',
      '[story] bundles and plugins are listed, a plugin computes, another calls a third party with a credential',
    ],
  },
  'bundles.paged': {
    promise: 'A large catalogue is read in pages, and a question in plain words finds plugins and bundles.',
    source: 'docs/contract.md "Bundles and plugins"',
    tests: [
      'limit, after and before select a page of either list, and without them a list is complete',
      '[catalogue] a question finds plugins and their bundles, best match first, and the log does not contain its words',
      '[catalogue] a question without words is refused, whether it is empty or has only spaces',
      '[catalogue] the client reads every plugin and bundle once over pages, in the order of the whole list',
    ],
  },
  'bundles.installed': {
    promise:
      'A bundle is one signed archive with reproducible bytes, which is installed without a network and without a failed request.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      '[install] a signed bundle is installed, replaced and removed without a network while 50 executions a second run: none fails',
      '[install] MCP clients that subscribe are notified of changed tools',
      '[install] a bundle without a signature of a trusted publisher is refused unless the operator allows it',
      'the same files give the same archive, whatever their times and order, and the id contains their digest',
      'an archive with ${what} is refused',
      'a signature of other contents or by another key is refused, whatever options are set',
      'an invalid version is reported and the one before stays in force, until a valid version replaces it',
    ],
  },
  'bundles.checked': {
    promise: 'An invalid bundle is reported with file, line and field, and never hides another bundle.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      '${name} is reported with file, line and field, and hides no other bundle',
      'every bundle loads without errors and warnings',
    ],
  },
  'bundles.examples': {
    promise: 'Every plugin returns what its examples show for the payloads of the documentation.',
    source: 'docs/contract.md "Documentation"',
    tests: [
      '${bundle.id}/${id} does what its example ${index + 1} shows',
      'each plugin of the table exists with its parameters, or the page about bundles names its replacement',
    ],
  },
  'authoring.recordings': {
    promise:
      'Examples are recorded from the real API without a credential in any encoding, and tested without a network.',
    source: 'docs/contract.md "Isolation"; ADR 0045',
    tests: [
      'examples are recorded from the upstream without a credential, and played back without it',
      'a request without a recording gets no response, and an unused recording fails the example',
    ],
  },
  'import.mcp': {
    promise: 'MCP servers import as bundles, snapshotted; what has changed is shown and refused until it is accepted.',
    source: 'docs/contract.md "Catalogue and execution"; ADR 0037',
    tests: [
      'the tools of a ${style} MCP server are imported, and run as plugins by the rules of their bundle',
      '[mcp-imported] text, picture, sound, link, resources and structure of an imported server reach the client',
      '[mcp-imported] limited progress of an imported server reaches clients that ask for it, and a cancellation reaches the imported server',
      'a changed description of a tool is reported as a difference, and the tool is refused until it is accepted',
      'an address that may not be reached and a server without MCP are not imported',
      'a server that does not list its tools is neither imported nor called',
    ],
  },
};
