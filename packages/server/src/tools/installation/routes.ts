import {
  Acknowledgement,
  BundleInstallation,
  BundlePlan,
  BundlePlanRequest,
  bundleRisks,
  InstalledBundle,
  InstalledBundleList,
  ListQuery,
  PackageQuery,
  PackageSearch,
  Success,
} from '@quartermaster/contract';
import { installedBundleOperations as operations } from '@quartermaster/contract/operations';
import { Type } from 'typebox';
import { whileConnected } from '../../platform/client-gone.ts';
import { acknowledgement, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import { pageOf } from '../../platform/list-cursors.ts';
import type { Installation, Plan } from './installation.ts';
import type { InstallationRow } from './installation-rows.ts';

export interface InstallationRoutesDeps {
  readonly installation: Installation;
  /** Refuses everybody but administrators of the service, before the body is read. */
  readonly onRequest: ManagerGuard['manages'];
}

const security = [{ session: [], consoleToken: [] }];
const Id = Type.String({ minLength: 1, maxLength: 256, description: 'Id.' });
const PlanParams = Type.Object({ bundle_plan_id: Id });
const BundleParams = Type.Object({ bundle_id: Id });
/** An uploaded package, in base64. */
const bodyLimit = 24 * 2 ** 20;

/** Registers the routes for the installation of packages. */
export function installationRoutes(app: App, { installation, onRequest }: InstallationRoutesDeps): void {
  readingRoutes(app, { installation, onRequest });
  app.post(
    '/v1/bundle_plans',
    {
      onRequest,
      bodyLimit,
      schema: { ...operations.planBundle, security, body: BundlePlanRequest, response: { 200: Success(BundlePlan) } },
    },
    async (request, reply) => {
      const plan = await whileConnected(reply, (signal) => installation.plan(request.body, request, signal));
      return plan === undefined ? reply : successEnvelope(planToWire(plan));
    },
  );
  app.post(
    '/v1/bundle_plans/:bundle_plan_id/install',
    {
      onRequest,
      schema: {
        ...operations.installBundle,
        security,
        params: PlanParams,
        body: BundleInstallation,
        response: { 200: Success(InstalledBundle) },
      },
    },
    async (request) =>
      successEnvelope(bundleToWire(await installation.install(request.params.bundle_plan_id, request.body, request))),
  );
  app.delete(
    '/v1/installed_bundles/:bundle_id',
    {
      onRequest,
      schema: {
        ...operations.removeInstalledBundle,
        security,
        params: BundleParams,
        response: { 200: Acknowledgement },
      },
    },
    async (request) => {
      await installation.remove(request.params.bundle_id, request);
      return acknowledgement;
    },
  );
}

function readingRoutes(app: App, { installation, onRequest }: InstallationRoutesDeps): void {
  app.get(
    '/v1/packages',
    {
      onRequest,
      schema: {
        ...operations.searchPackages,
        security,
        querystring: PackageQuery,
        response: { 200: Success(PackageSearch) },
      },
    },
    async ({ query }, reply) => {
      const packages = await whileConnected(reply, (signal) => installation.search(query.query, signal));
      return packages === undefined ? reply : successEnvelope({ object: 'PackageSearch' as const, packages });
    },
  );
  app.get(
    '/v1/installed_bundles',
    {
      onRequest,
      schema: {
        ...operations.listInstalledBundles,
        security,
        querystring: ListQuery,
        response: { 200: InstalledBundleList },
      },
    },
    async (request) => {
      const { listRecipes } = await import('@quartermaster/importers/recipes');
      const page = pageOf(await installation.list(), request.query, { kind: 'bundleArchive', toWire: bundleToWire });
      return { ...page, recipes: listRecipes() };
    },
  );
}

/** @param plan one that has an end */
export function planToWire({ id, expiresAt, about, update }: Plan): BundlePlan {
  return {
    object: 'BundlePlan',
    bundle_plan_id: id,
    expires_timestamp: expiresAt ?? 0,
    ...about,
    update,
    risk: bundleRisks[about.kind],
  };
}

export function bundleToWire({ id, createdAt, about }: InstallationRow): InstalledBundle {
  return { object: 'InstalledBundle', installed_bundle_id: id, installed_timestamp: createdAt, ...about };
}
