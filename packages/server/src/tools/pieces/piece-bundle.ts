import { type BundleCategory, bundleCategories } from '@quartermaster/contract';
import type { BundleManifest, CredentialPlaces, OauthDeclaration, PluginManifest } from '@quartermaster/plugin-kit';
import { stringify } from 'yaml';
import { shownText } from '../../platform/plain-name.ts';
import type { PieceAction, PieceAuth, PieceDescription } from '../execution/pieces/child/piece-task.ts';
import { credentialsOf, inputSchemaOf, outputSchemaOf, safeName } from '../execution/pieces/piece-schema.ts';
import { pieceFile } from './piece-process.ts';

export interface PieceBundleOptions {
  readonly description: PieceDescription;
  readonly id: string;
  /** The name of the package, such as `@activepieces/piece-slack`. */
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
  readonly hosts: readonly string[];
  readonly credentialPlaces: CredentialPlaces | undefined;
  /** Actions that may be idempotent, because they sent no request that is not. */
  readonly repeatable: readonly string[];
  readonly file: Buffer;
}

/** Builds the files of the bundle of a piece, by their names in its folder. `readBundle` checks them like those of any bundle. */
export function pieceBundle({ description, file, ...options }: PieceBundleOptions): Map<string, Buffer> {
  const { displayName: name, auth, actions } = description;
  const credentials = credentialsOf(auth);
  const categories = categoriesOf(description.categories);
  const oauth = auth.flatMap((one) => oauthOf(one) ?? [])[0];
  const manifest: BundleManifest = {
    id: options.id,
    version: /^\d+\.\d+\.\d+/.exec(options.version)?.[0] ?? '0.0.0',
    name,
    description: description.description || `Actions of ${name}.`,
    provider: name,
    developer: options.package,
    ...(categories.length === 0 ? {} : { categories }),
    hosts: [...options.hosts],
    ...(credentials === undefined ? {} : { credentials_schema: { type: 'object', ...credentials.schema } }),
    ...(oauth === undefined ? {} : { oauth }),
    ...(options.credentialPlaces === undefined ? {} : { credential_places: options.credentialPlaces }),
    piece: {
      package: options.package,
      version: options.version,
      integrity: options.integrity,
      auth: (credentials?.forms ?? []).map(({ kind, fields }) => ({ kind, fields })),
    },
  };
  const files = new Map<string, Buffer>([
    ['bundle.yaml', yamlOf(manifest)],
    [pieceFile, file],
  ]);
  const taken = new Set<string>(['bundle']);
  for (const action of actions) {
    const plugin = pluginOf(action, pluginIdOf(action.name, taken), options.repeatable);
    files.set(`${plugin.id}.yaml`, yamlOf(plugin));
  }
  return files;
}

/** Those that the framework knows. Packages may have others. */
function categoriesOf(stated: readonly string[]): BundleCategory[] {
  const named = stated.map((one) => renamed[one] ?? one.toLowerCase());
  return bundleCategories.filter((one) => named.includes(one)).slice(0, 5);
}

const renamed: Readonly<Record<string, BundleCategory>> = {
  UNIVERSAL_AI: 'artificial_intelligence',
  CORE: 'utilities',
  FLOW_CONTROL: 'utilities',
};

/**
 * How end users connect. Undefined where the URLs depend on the account, or an access token alone is not enough. The client secret goes
 * to the host of the token URL, which the piece itself need not reach.
 */
function oauthOf({ kind, authUrl, tokenUrl, scope, props, ...auth }: PieceAuth): OauthDeclaration | undefined {
  const isFixed = (url: string) => /^https:\/\/[^\s{}\\]+$/.test(url) && URL.canParse(url);
  if (kind !== 'OAUTH2' || !isFixed(authUrl) || !isFixed(tokenUrl)) return undefined;
  if (scope.length > 50 || props.some(({ type, required }) => required && type !== 'MARKDOWN')) return undefined;
  const prompt = auth.prompt === 'omit' ? {} : { prompt: auth.prompt || 'consent' };
  return {
    authorization_url: authUrl,
    token_url: tokenUrl,
    client_authentication: auth.authorizationMethod === 'HEADER' ? 'basic' : 'body',
    pkce: auth.pkce,
    authorization_parameters: { access_type: 'offline', ...prompt },
    scopes: [...scope],
    credential: 'access_token',
  };
}

const effectsOf: Readonly<Record<string, PluginManifest['effects']>> = {
  READ: 'read',
  SEARCH: 'read',
  WRITE: 'write',
  DESTRUCTIVE: 'destructive',
};

function pluginOf(action: PieceAction, id: string, repeatable: readonly string[]): PluginManifest {
  const effects = effectsOf[action.classification] ?? 'write';
  const choices = action.props
    .filter(({ type }) => kinds[type] !== undefined)
    .map((property) => {
      const { name, type, refreshers = [] } = property;
      const choice = { kind: kinds[type] ?? ('one' as const), depends_on: [...refreshers] };
      return [safeName(name), choice] as const;
    });
  const renamed = action.props.filter(({ name }) => safeName(name) !== name).map(({ name }) => [safeName(name), name]);
  return {
    id,
    name: action.displayName || shownText(action.name),
    description: action.description || action.displayName || shownText(action.name),
    input_schema: { type: 'object', ...inputSchemaOf(action) },
    output_schema: { type: 'object', ...outputSchemaOf(action) },
    effects,
    idempotent: repeatable.includes(action.name) && (effects === 'read' || action.idempotent),
    handler: pieceFile,
    piece: {
      action: action.name,
      choices: Object.fromEntries(choices),
      ...(renamed.length === 0 ? {} : { names: Object.fromEntries(renamed) }),
    },
  };
}

const kinds: Readonly<Record<string, 'one' | 'many' | 'properties' | undefined>> = {
  DROPDOWN: 'one',
  MULTI_SELECT_DROPDOWN: 'many',
  DYNAMIC: 'properties',
};

/** The name in snake case, unique in the bundle. */
function pluginIdOf(name: string, taken: Set<string>): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_');
  const base =
    words
      .replace(/^[^a-z]+/, '')
      .replace(/_$/, '')
      .slice(0, 60) || 'action';
  let id = base;
  for (let number = 2; taken.has(id); number += 1) id = `${base}_${number}`;
  taken.add(id);
  return id;
}

/** The same manifest gives the same text. */
export function yamlOf(manifest: object): Buffer {
  return Buffer.from(stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false }));
}
