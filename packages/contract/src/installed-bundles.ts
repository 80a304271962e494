import { type Static, Type } from 'typebox';
import { CountedList, Timestamp } from './envelope.ts';
import { pluginEffects } from './plugins.ts';

/** Plans and installed bundles of packages. Source: docs/decisions/0178-install-pieces-by-a-confirmed-plan.md. */

/** What a bundle is made of. */
export const bundleKinds = ['piece', 'archive', 'openapi', 'mcp'] as const;

/** What the plan, the command and the console say about every bundle of a kind. */
export const bundleRisks: Readonly<Record<(typeof bundleKinds)[number], string>> = {
  piece:
    'A hostile piece can misuse the account that you lend to it, within the hosts above. It cannot read secrets, and it cannot reach other hosts, projects or runs.',
  archive:
    'The code of a hostile bundle can misuse the account that you lend to it, within the hosts above. It cannot read the credentials, and it cannot reach other hosts, projects or runs.',
  openapi: 'The bundle has no code. Its calls send inputs and the credentials to the hosts above and to nobody else.',
  mcp: 'The server gets the inputs and the credentials, and its answers reach models. A tool that the server describes differently later is refused.',
};

const Hosts = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 100, description });

const PlacesOfCredential = Type.Object(
  {
    hosts: Hosts('Some of `hosts`: those that get the credential.'),
    places: Type.Array(
      Type.Object({
        in: Type.Enum(['header', 'query', 'form', 'path']),
        name: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
        prefix: Type.Optional(
          Type.String({ minLength: 1, maxLength: 256, description: 'For `path`, such as `/bot`.' }),
        ),
      }),
      { maxItems: 32 },
    ),
  },
  { description: 'Where requests may hold the credential. In all other places, a request with it is refused.' },
);
export type PlacesOfCredential = Static<typeof PlacesOfCredential>;

const reach = {
  hosts: Hosts('Hosts that the bundle may call.'),
  credential_places: Type.Union([PlacesOfCredential, Type.Null()]),
};

const Lists = (description: string) =>
  Type.Object(
    {
      hosts: Type.Array(Type.String()),
      credential_hosts: Type.Array(Type.String()),
      places: PlacesOfCredential.properties.places,
    },
    { description },
  );

const Url = Type.String({ maxLength: 2_000, pattern: '^https?://' });
const Operations = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 500, description }));
const CredentialName = Type.String({ maxLength: 64, pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' });

export const bundleIdPattern = '^[a-z][a-z0-9_]{0,63}$';

const document = {
  url: Type.Optional(
    Type.String({ ...Url, description: 'URL of the document, or of an MCP server that requires no credentials.' }),
  ),
  recipe: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: bundleIdPattern,
      description:
        'Name of a recipe, which chooses operations, hosts and credentials. Without `content` and `url`, it names the document too.',
    }),
  ),
  server: Type.Optional(
    Type.String({ ...Url, description: 'URL of the API, in the place of the servers of the document.' }),
  ),
  operations: Operations(
    'Imports only these, by `operationId`. Default: all. With `tags` and `paths`, what one of them names.',
  ),
  tags: Operations('Imports only operations with one of these tags.'),
  paths: Operations('Imports only operations with one of these paths, or below it.'),
};
const server = {
  url: Url,
  bearer: Type.Optional(
    Type.String({ ...CredentialName, description: 'Name of the credential that is sent as bearer token.' }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 128 }), CredentialName, {
      maxProperties: 10,
      description: 'Names of credentials by the header that holds them.',
    }),
  ),
  operations: Operations('Imports only these tools. Default: all.'),
};
const Remembered = Type.Union(
  [
    Type.Object({ kind: Type.Literal('openapi'), ...document }),
    Type.Object({ kind: Type.Literal('mcp'), ...server }),
    Type.Null(),
  ],
  { description: 'The source of the plan, which an update reads again; null for files and packages.' },
);

/** What an administrator decides about. */
const facts = {
  bundle_id: Type.String(),
  kind: Type.Enum([...bundleKinds]),
  package: Type.String({
    description:
      'Name of the package, URL of the MCP server, host of the API, or id of the bundle in an archive. Only the same one can update the bundle.',
  }),
  source: Remembered,
  version: Type.String(),
  integrity: Type.String({ description: 'sha512 of the package, the document, the list of tools or the archive.' }),
  publisher: Type.Union([Type.String(), Type.Null()], {
    description: 'Public key that signed the archive; null for an unsigned archive and for other kinds.',
  }),
  trust: Type.Union([Type.Enum(['trusted', 'unknown', 'unsigned']), Type.Null()], {
    description: 'Whether the publisher of an archive is trusted; null for other kinds.',
  }),
  packed_from: Type.Union([Type.String(), Type.Null()], {
    description:
      'Integrity of the package that `bundle pack` has bundled with its dependencies; null for an unmodified package.',
  }),
  licence: Type.String({ description: 'What the package or the document states, or `none stated`.' }),
  bytes: Type.Integer({ description: 'Bytes of the code of a piece, otherwise of all files.' }),
  actions: Type.Array(
    Type.Object({ plugin_id: Type.String(), name: Type.String(), effects: Type.Enum([...pluginEffects]) }),
  ),
  credentials: Type.Array(Type.Object({ name: Type.String(), secret: Type.Boolean() })),
  ...reach,
  added: Lists('What administrators have added to the lists of the package. Updates keep it.'),
  removed: Lists('What administrators have removed from them. Updates keep it.'),
  warnings: Type.Array(Type.String()),
  digest: Type.String({ description: 'SHA-256 of all of this, and of the code. The logo is not part of it.' }),
};
export const PackageFacts = Type.Object(facts);
export type PackageFacts = Static<typeof PackageFacts>;

const Change = Type.Object({
  actions: facts.actions,
  credentials: facts.credentials,
  hosts: Type.Array(Type.String()),
  credential_hosts: Type.Array(Type.String()),
  places: PlacesOfCredential.properties.places,
});
export const PackageUpdate = Type.Object(
  { from_version: Type.String(), added: Change, removed: Change },
  { description: 'Differences to the installed bundle. An action with other effects is removed and added.' },
);
export type PackageUpdate = Static<typeof PackageUpdate>;

export const BundlePlan = Type.Object({
  object: Type.Literal('BundlePlan'),
  bundle_plan_id: Type.String(),
  expires_timestamp: Timestamp,
  ...facts,
  update: Type.Union([PackageUpdate, Type.Null()]),
  risk: Type.String({ description: 'What a hostile package could do.' }),
});
export type BundlePlan = Static<typeof BundlePlan>;

export const InstalledBundle = Type.Object({
  object: Type.Literal('InstalledBundle'),
  installed_bundle_id: Type.String(),
  installed_timestamp: Timestamp,
  ...facts,
});
export type InstalledBundle = Static<typeof InstalledBundle>;

export const InstalledBundleList = Type.Object({
  ...CountedList(InstalledBundle).properties,
  recipes: Type.Array(Type.String(), { description: 'Names of the recipes that a plan can use.' }),
});

export const packageNamePattern = '^@[a-z0-9-]{1,64}/[a-z0-9][a-z0-9._-]{0,127}$';
/** An exact version. */
export const packageVersionPattern = '^[0-9]{1,9}\\.[0-9]{1,9}\\.[0-9]{1,9}(-[0-9A-Za-z.-]{1,64})?$';

/** The name of a package; words are those of a piece: `google sheets` is `@activepieces/piece-google-sheets`. */
export function packageOfWords(typed: string): string {
  const name = typed.trim().toLowerCase();
  return name === '' || name.startsWith('@') ? name : `@activepieces/piece-${name.replace(/\s+/g, '-')}`;
}

export const PackageQuery = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 100, description: 'Name or words, such as `google sheets`.' }),
});

const FoundPackage = Type.Object({
  package: Type.String(),
  version: Type.String({ description: 'The latest version.' }),
  description: Type.String({ description: 'What the package says about itself.' }),
});
export type FoundPackage = Static<typeof FoundPackage>;

export const PackageSearch = Type.Object({
  object: Type.Literal('PackageSearch'),
  packages: Type.Array(FoundPackage, { description: 'The best first, at most 51.' }),
});
export type PackageSearch = Static<typeof PackageSearch>;

/** The bytes of an uploaded archive, in base64. */
const mostBase64 = 22_400_000;
/** The bytes of an OpenAPI document. */
export const mostDocumentBytes = 10 * 2 ** 20;

export const BundlePlanRequest = Type.Object({
  source: Type.Union([
    Type.Object({
      kind: Type.Literal('piece'),
      package: Type.String({
        maxLength: 194,
        pattern: packageNamePattern,
        description: 'Name in the registry, such as `@activepieces/piece-slack`.',
      }),
      version: Type.Optional(
        Type.String({ maxLength: 100, pattern: packageVersionPattern, description: 'Default: the latest version.' }),
      ),
    }),
    Type.Object({
      kind: Type.Literal('piece_file'),
      content: Type.String({ maxLength: mostBase64, description: 'A `.tgz` of npm, in base64.' }),
    }),
    Type.Object(
      { kind: Type.Literal('installed'), bundle_id: Type.String({ minLength: 1, maxLength: 64 }) },
      { description: 'The installed version again, to change its hosts and places. Nothing is downloaded.' },
    ),
    Type.Object({
      kind: Type.Literal('archive'),
      content: Type.String({ maxLength: mostBase64, description: 'A `.qmb` of `bundle pack`, in base64.' }),
    }),
    Type.Object({
      kind: Type.Literal('openapi'),
      content: Type.Optional(
        Type.String({
          maxLength: mostDocumentBytes,
          description:
            'OpenAPI document, version 2.0, 3.0 or 3.1, or Google Discovery document, as JSON or YAML. Send this or `url`.',
        }),
      ),
      ...document,
    }),
    Type.Object({
      kind: Type.Literal('mcp'),
      ...server,
      credentials: Type.Optional(
        Type.Record(CredentialName, Type.String({ maxLength: 10_000 }), {
          maxProperties: 10,
          description: 'Values of these credentials. They are sent to the server once, and not stored.',
        }),
      ),
    }),
  ]),
  bundle_id: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: bundleIdPattern,
      description:
        'Id of the bundle. Default: from the name of the package, the document or the server, such as `piece_slack`. Archives keep theirs.',
    }),
  ),
});
export type BundlePlanRequest = Static<typeof BundlePlanRequest>;

export const BundleInstallation = Type.Object({
  digest: Type.String({ minLength: 64, maxLength: 64, description: '`digest` of the plan.' }),
  hosts: Type.Optional(Hosts('Replaces `hosts` of the plan. Only for pieces, like `credential_places`.')),
  credential_places: Type.Optional(PlacesOfCredential),
  accept_publisher: Type.Optional(
    Type.Boolean({ description: 'Installs an archive that is not signed, or whose publisher is not trusted.' }),
  ),
});
export type BundleInstallation = Static<typeof BundleInstallation>;
