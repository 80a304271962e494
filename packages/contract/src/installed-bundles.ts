import { type Static, Type } from 'typebox';
import { Timestamp } from './envelope.ts';
import { pluginEffects } from './plugins.ts';

/** Plans and installed bundles of packages. Source: docs/decisions/0178-install-pieces-by-a-confirmed-plan.md. */

/** What the plan, the command and the console say about every piece. */
export const pieceWarning =
  'A hostile piece can misuse the account that you lend to it, within the hosts above. It cannot read secrets, and it cannot reach other hosts, projects or runs.';

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

/** What an administrator decides about. */
const facts = {
  bundle_id: Type.String(),
  package: Type.String(),
  version: Type.String(),
  integrity: Type.String({ description: 'sha512 of the downloaded archive.' }),
  packed_from: Type.Union([Type.String(), Type.Null()], {
    description:
      'Integrity of the package that `bundle pack` has bundled with its dependencies; null for an unmodified package.',
  }),
  licence: Type.String({ description: 'What the package states, or `none stated`.' }),
  bytes: Type.Integer({ description: 'Bytes of its code.' }),
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

export const bundleIdPattern = '^[a-z][a-z0-9_]{0,63}$';
export const packageNamePattern = '^@[a-z0-9-]{1,64}/[a-z0-9][a-z0-9._-]{0,127}$';
/** An exact version. */
export const packageVersionPattern = '^[0-9]{1,9}\\.[0-9]{1,9}\\.[0-9]{1,9}(-[0-9A-Za-z.-]{1,64})?$';

/** The bytes of an uploaded archive, in base64. */
const mostBase64 = 22_400_000;

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
  ]),
  bundle_id: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: bundleIdPattern,
      description: 'Id of the bundle. Default: that of the package, such as `piece_slack`.',
    }),
  ),
});
export type BundlePlanRequest = Static<typeof BundlePlanRequest>;

export const BundleInstallation = Type.Object({
  digest: Type.String({ minLength: 64, maxLength: 64, description: '`digest` of the plan.' }),
  hosts: Type.Optional(Hosts('Replaces `hosts` of the plan.')),
  credential_places: Type.Optional(PlacesOfCredential),
});
export type BundleInstallation = Static<typeof BundleInstallation>;
