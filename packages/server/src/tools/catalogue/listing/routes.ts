import { Readable } from 'node:stream';
import { type DefinitionFormat, definitionFormats } from '@quartermaster/contract';
import { bundleOperations, listFormats, pluginOperations } from '@quartermaster/contract/operations';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { App } from '../../../platform/http/app.ts';
import type { CachedJson } from '../../../platform/json/json-cache.ts';
import type { Permissions } from '../../../platform/permissions.ts';
import { type Catalogue, type CompiledBundle, type CompiledPlugin, isRetired, type PluginLists } from '../catalogue.ts';
import { fallbackLanguage } from '../manifest/languages.ts';
import type { PluginSearch } from '../plugin-search.ts';
import { bundleMissing, getBundle, iconNotFound, listFormatUnknown, pluginMissing } from '../problems.ts';
import { buildPage, bundlesOf, checkQuestion, pluginIdOf, wantsPage } from './catalogue-page.ts';
import { matchesETag } from './etag.ts';

export interface CatalogueRoutesDeps {
  /** Returns the current catalogue. Called for each request, because a newer catalogue may replace it. */
  readonly catalogue: () => Catalogue;
  readonly search: PluginSearch;
  /** Authentication of the plugins address. */
  readonly onRequest: onRequestHookHandler;
  readonly permissionsOf: (request: FastifyRequest) => Permissions;
}

/** Returns the catalogue as the caller of a request sees it, and its plugins as the caller can use them. */
function viewFor(
  request: FastifyRequest,
  { catalogue, permissionsOf }: CatalogueRoutesDeps,
): { readonly seen: Catalogue; readonly lists: PluginLists } {
  const permissions = permissionsOf(request);
  const seen = catalogue().visibleTo(permissions);
  return { seen, lists: permissions.has('files:read') ? seen : seen.withoutFiles };
}

/** The catalogue over HTTP. Source: docs/contract.md "Catalogue"; docs/contract.md "Bundles and plugins". */
export function catalogueRoutes(app: App, deps: CatalogueRoutesDeps): void {
  bundleRoutes(app, deps);
  pluginRoutes(app, deps);
  openApiRoute(app, deps);
  iconRoute(app, deps);
}

function bundleRoutes(app: App, deps: CatalogueRoutesDeps): void {
  const { search, onRequest } = deps;
  app.get('/v1/bundles', { onRequest, schema: bundleOperations.listBundles }, async (request, reply) => {
    const { lang: language = fallbackLanguage, q, retired = false, category, ...page } = request.query;
    checkQuestion(q);
    const { bundles, describeBundle, bundleList } = viewFor(request, deps).seen;
    if (!wantsPage(request.query) && category === undefined)
      return sendJson(request, reply, await bundleList(language, retired));
    const found = q === undefined ? [] : bundlesOf(seenOf(await search.find(q), bundles));
    const all = [...bundles.values()].filter((bundle) => retired || !isRetired(bundle));
    const chosen = q === undefined ? all : found.flatMap(({ id }) => bundles.get(id) ?? []);
    const isOf = ({ manifest }: CompiledBundle) => category === undefined || manifest.categories?.includes(category);
    const items = chosen.filter(isOf);
    const describe = (bundle: CompiledBundle) => describeBundle(bundle, language);
    return sendJson(
      request,
      reply,
      await buildPage(items, { q, ...page }, { kind: 'bundle', idOf: ({ id }) => id, describe }),
    );
  });
  app.get('/v1/bundles/:bundle_id', { onRequest, schema: bundleOperations.getBundle }, async (request, reply) => {
    const { bundle_id } = request.params;
    const { seen, lists } = viewFor(request, deps);
    const prepared = await lists.bundleDetail(bundle_id, request.query.lang ?? fallbackLanguage);
    if (prepared === undefined) throw bundleMissing(seen, bundle_id);
    return sendJson(request, reply, prepared);
  });
}

function pluginRoutes(app: App, deps: CatalogueRoutesDeps): void {
  const { search, onRequest } = deps;
  app.get('/v1/plugins', { onRequest, schema: pluginOperations.listPlugins }, async (request, reply) => {
    const { bundle_id, lang: language = fallbackLanguage, format = listFormats[0], q, ...page } = request.query;
    checkQuestion(q);
    const isDefinition = isDefinitionFormat(format);
    if (!isDefinition && format !== listFormats[0]) throw listFormatUnknown(format, listFormats);
    const { seen, lists } = viewFor(request, deps);
    if (wantsPage(request.query)) {
      const { describePlugin, definePlugin } = lists;
      const describe = (plugin: CompiledPlugin) =>
        isDefinition ? definePlugin(plugin, format, language) : describePlugin(plugin, language);
      const items = await findPlugins({ catalogue: seen, search }, { q, bundle_id });
      return sendJson(
        request,
        reply,
        await buildPage(items, { q, ...page }, { kind: 'plugin', idOf: pluginIdOf, describe }),
      );
    }
    const prepared = isDefinition
      ? await lists.definitionList(format, bundle_id, language)
      : await lists.pluginList(bundle_id, language);
    // Only a bundle id can be unknown.
    if (prepared === undefined) throw bundleMissing(seen, bundle_id ?? '');
    return sendJson(request, reply, prepared);
  });
  app.get(
    '/v1/plugins/:bundle_id/:plugin_id',
    { onRequest, schema: pluginOperations.getPlugin },
    async (request, reply) => {
      const { bundle_id, plugin_id } = request.params;
      const { seen, lists } = viewFor(request, deps);
      const prepared = await lists.pluginDetail(bundle_id, plugin_id, request.query.lang ?? fallbackLanguage);
      if (prepared === undefined) throw pluginMissing(seen, bundle_id, plugin_id);
      return sendJson(request, reply, prepared);
    },
  );
}

/**
 * Returns the plugins of all bundles or of one: those that match a question, best first, or all.
 * @throws Problem for an unknown bundle
 */
async function findPlugins(
  { catalogue, search }: { readonly catalogue: Catalogue; readonly search: PluginSearch },
  { q, bundle_id: bundleId }: { readonly q: string | undefined; readonly bundle_id: string | undefined },
): Promise<readonly CompiledPlugin[]> {
  const bundle = bundleId === undefined ? undefined : getBundle(catalogue, bundleId);
  const bundles = bundle === undefined ? [...catalogue.bundles.values()] : [bundle];
  if (q === undefined) return bundles.flatMap(({ plugins }) => [...plugins.values()]);
  const found = seenOf(await search.find(q), catalogue.bundles);
  return bundle === undefined ? found : found.filter((plugin) => plugin.bundle.id === bundle.id);
}

/** Leaves only the plugins that a caller sees. */
function seenOf(found: readonly CompiledPlugin[], bundles: Catalogue['bundles']): readonly CompiledPlugin[] {
  return found.filter(({ bundle, id: pluginId }) => bundles.get(bundle.id)?.plugins.has(pluginId));
}

function isDefinitionFormat(format: string): format is DefinitionFormat {
  return definitionFormats.some((known) => known === format);
}

function openApiRoute(app: App, deps: CatalogueRoutesDeps): void {
  const { onRequest } = deps;
  app.get(
    '/v1/bundles/:bundle_id/openapi.json',
    { onRequest, schema: bundleOperations.getBundleOpenApi },
    async (request, reply) => {
      const { bundle_id } = request.params;
      const { seen, lists } = viewFor(request, deps);
      const prepared = await lists.bundleOpenApi(bundle_id, request.query.lang ?? fallbackLanguage);
      if (prepared === undefined) throw bundleMissing(seen, bundle_id);
      return sendJson(request, reply, prepared);
    },
  );
}

function iconRoute(app: App, deps: CatalogueRoutesDeps): void {
  const { onRequest } = deps;
  app.get('/v1/bundles/:bundle_id/icon', { onRequest, schema: bundleOperations.getBundleIcon }, (request, reply) => {
    const icon = viewFor(request, deps).seen.findIcon(request.params.bundle_id);
    if (icon === undefined) throw iconNotFound(request.params.bundle_id);
    // A drawing may contain scripts, which must not run with this origin when the drawing is opened directly.
    reply
      .header('Content-Security-Policy', "sandbox; default-src 'none'; style-src 'unsafe-inline'")
      .header('Cross-Origin-Resource-Policy', 'cross-origin');
    reply.header('ETag', icon.etag).header('Cache-Control', 'no-cache');
    if (matchesETag(request.headers['if-none-match'], icon.etag)) reply.code(304).send();
    else reply.header('Content-Type', icon.mediaType).send(icon.body);
  });
}

/** Sends bytes unchanged, or 304 when the client has them. Serialisers are bypassed. */
function sendJson(request: FastifyRequest, reply: FastifyReply, { etag, length, body }: CachedJson): FastifyReply {
  reply.header('ETag', etag).header('Cache-Control', 'no-cache');
  if (matchesETag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  reply.header('Content-Type', 'application/json; charset=utf-8');
  if (Buffer.isBuffer(body)) return reply.send(body);
  return reply.header('Content-Length', length).send(Readable.from(body(), { objectMode: false }));
}
