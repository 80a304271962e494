import { type Plugin, type Scope, scopes, withIncluded } from '@quartermaster/contract';
import { objectNotFound } from './problem.ts';

/** What a key grants, as it is stored. */
export interface Grant {
  readonly scopes: readonly Scope[];
  /** Ids of collections; null: every collection of the project. */
  readonly collections: readonly string[] | null;
  /** Ids of bundles, and `bundle_id/plugin_id`; null: every plugin. */
  readonly tools: readonly string[] | null;
}

/**
 * Answers what a caller may do. Keys, sessions and callers without a key carry one. What a caller does not see does not exist for
 * it: lists and counts leave it out, and its id is unknown.
 */
export interface Permissions {
  /** The id of its key, and those of the keys that this key replaced: it owns what they uploaded or created. */
  readonly keyIds: ReadonlySet<string>;
  /** The scopes with those that they include. */
  readonly scopes: ReadonlySet<Scope>;
  readonly collections: ReadonlySet<string> | null;
  readonly tools: ReadonlySet<string> | null;
  /** The bundles of which it sees any plugin; null: all. */
  readonly bundles: ReadonlySet<string> | null;
  has(scope: Scope): boolean;
  seesCollection(collectionId: string): boolean;
  /** Whether it sees any plugin of the bundle. */
  seesBundle(bundleId: string): boolean;
  seesPlugin(bundleId: string, pluginId: string): boolean;
  /** Whether it may run plugins with these effects. Without the scope `plugins`, they must be `read`. */
  mayCause(effects: Plugin['effects']): boolean;
  /** Returns the first part of a grant that is more than its own; undefined when it may grant all of it. */
  findBeyond(grant: Grant): Beyond | undefined;
  /** Returns the lists of a grant without what it does not see. */
  visiblePart(grant: Grant): Pick<Grant, 'collections' | 'tools'>;
}

/** `name` is null for every collection or every plugin. */
export type Beyond =
  | { readonly what: 'scope'; readonly name: Scope }
  | { readonly what: 'collection' | 'tool'; readonly name: string | null };

export function createPermissions(grant: Grant, keyIds: readonly string[] = []): Permissions {
  const scopesOfCaller = withIncluded(grant.scopes);
  const collections = grant.collections && new Set(grant.collections);
  const tools = grant.tools && new Set(grant.tools);
  const bundles = tools && new Set([...tools].map(bundleOf));
  const seesTool = (name: string) => tools === null || tools.has(name) || tools.has(bundleOf(name));
  const seesCollection = (id: string) => collections === null || collections.has(id);
  return {
    keyIds: new Set(keyIds),
    scopes: scopesOfCaller,
    collections,
    tools,
    bundles,
    has: (scope) => scopesOfCaller.has(scope),
    seesCollection,
    seesBundle: (bundleId) => bundles === null || bundles.has(bundleId),
    seesPlugin: (bundleId, pluginId) => seesTool(`${bundleId}/${pluginId}`),
    mayCause: (effects) => scopesOfCaller.has('plugins') || (effects === 'read' && scopesOfCaller.has('plugins:read')),
    findBeyond: (wanted) => {
      const scope = wanted.scopes.find((name) => !scopesOfCaller.has(name));
      if (scope !== undefined) return { what: 'scope', name: scope };
      const collection = findOther(collections, wanted.collections, seesCollection);
      if (collection !== undefined) return { what: 'collection', name: collection };
      const tool = findOther(tools, wanted.tools, seesTool);
      return tool === undefined ? undefined : { what: 'tool', name: tool };
    },
    visiblePart: (other) => ({
      collections: other.collections?.filter(seesCollection) ?? null,
      tools: other.tools?.filter(seesTool) ?? null,
    }),
  };
}

function bundleOf(tool: string): string {
  return tool.split('/', 1)[0] ?? '';
}

function findOther(
  own: ReadonlySet<string> | null,
  wanted: readonly string[] | null,
  sees: (name: string) => boolean,
): string | null | undefined {
  if (own === null) return undefined;
  return wanted === null ? null : wanted.find((name) => !sees(name));
}

/** The permissions of an administrator. */
export const everyPermission = createPermissions({ scopes, collections: null, tools: null });

/** The permissions of a caller without a key, where the plugins address requires none. */
export const permissionsWithoutKey = createPermissions({ scopes: ['plugins'], collections: null, tools: null });

/** @throws Problem OBJECT_NOT_FOUND, the same as for a collection that does not exist */
export function checkCollection(permissions: Permissions, collectionId: string): void {
  if (!permissions.seesCollection(collectionId)) throw objectNotFound('collection', collectionId);
}

/** The files that a caller limited to collections sees: those of their records, and its own uploads. */
export interface FileReach {
  readonly keyIds: ReadonlySet<string>;
  readonly collections: ReadonlySet<string>;
}

/** Returns null when the caller sees every file of its project. */
export function fileReachOf({ keyIds, collections }: Permissions): FileReach | null {
  return collections === null ? null : { keyIds, collections };
}
