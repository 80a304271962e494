import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { BundleManifest } from '@quartermaster/plugin-kit';
import type { BundleFailure } from '../catalogue.ts';
import { createErrorCollector, type ErrorCollector } from '../schema/error-collector.ts';
import { declaredHosts } from './bundle-hosts.ts';
import { checkCredentials, type RequestBasis } from './check-credentials.ts';
import { checkErrorMapping, checkResponse } from './check-expression.ts';
import { checkBundleManifest } from './check-manifest.ts';
import { needsHandler } from './check-places.ts';
import { checkRequest, requestContext } from './check-request.ts';
import { reasonOf } from './plain-file.ts';
import { type BundleIcon, readIcon } from './read-icon.ts';
import { readManifestFile } from './read-manifest-file.ts';
import { type PluginFile, type PluginReading, type PluginSource, readPlugin } from './read-plugin.ts';

/** A bundle that was read from its folder and checked. */
export interface BundleSource {
  /** An absolute path without links. Child processes may be allowed to read it. */
  readonly folder: string;
  readonly manifest: BundleManifest;
  /** Sorted by id, without invalid plugins. */
  readonly plugins: readonly PluginSource[];
  readonly icon: BundleIcon | null;
}

export interface BundleReading {
  /** Undefined when `bundle.yaml` is invalid. */
  readonly bundle: BundleSource | undefined;
  readonly failures: readonly BundleFailure[];
}

const manifestName = 'bundle.yaml';

/**
 * Reads the folder of a bundle: `bundle.yaml` and one `<plugin_id>.yaml` for each plugin. Executes none of its code. Invalid
 * plugins are left out and hide no others. Every failure names file, line and field. Format: docs/guides/bundles.md.
 */
export async function readBundle(bundleFolder: string): Promise<BundleReading> {
  const name = basename(bundleFolder);
  const folder = await realpath(bundleFolder);
  const place = { folder, name: manifestName, label: `${name}/${manifestName}` };
  const check = (value: unknown, found: ErrorCollector) => checkBundle(value, name, found);
  const { manifest: checked, errors } = await readManifestFile(place, check);
  const yamlFiles = await listYaml(folder);
  if (checked === undefined && !yamlFiles.includes(manifestName)) {
    // The folder is no bundle, so its other files are no plugins.
    return { bundle: undefined, failures: errors.list };
  }
  const { manifest, icon: iconName, basis } = checked ?? {};
  const isWhole = errors.list.length === 0;
  const icon = await findIcon(folder, iconName, errors);
  // The plugins of an invalid bundle are read too, so that its author sees all errors at once.
  const { pluginIds, failures } = sortFiles(name, yamlFiles);
  if (pluginIds.length === 0 && manifest?.retired === undefined)
    failures.push(...oneFailure(place.label, 'The bundle has no plugin. Add a .yaml file for a plugin to its folder.'));
  const readings = await readPlugins(folder, { name, basis, pluginIds });
  const plugins = readings.flatMap(({ plugin }) => (plugin === undefined ? [] : [plugin]));
  return {
    bundle: isWhole && manifest !== undefined ? { folder, manifest, icon, plugins } : undefined,
    failures: [...errors.list, ...failures, ...readings.flatMap((reading) => reading.failures)],
  };
}

interface CheckedBundle {
  /** Undefined when the schema of `bundle.yaml` is violated. */
  readonly manifest: BundleManifest | undefined;
  readonly icon: string | undefined;
  readonly basis: RequestBasis | undefined;
}

/** Performs the checks that need only `bundle.yaml` and the name of its folder. */
function checkBundle(value: unknown, name: string, errors: ErrorCollector): CheckedBundle {
  const { manifest, members } = checkBundleManifest(value, errors);
  if (members.id !== undefined && members.id !== name) {
    const found = JSON.stringify(members.id);
    errors.add(['id'], `Must be ${JSON.stringify(name)}, the name of the folder; received ${found}.`);
  }
  if (members.errors !== undefined) checkErrorMapping(members.errors, ['errors'], errors);
  const basis = basisOf(value, members);
  if (basis !== undefined) {
    const hosts = declaredHosts(basis);
    const twice = hosts.findIndex((host, index) => hosts.indexOf(host) !== index);
    if (twice >= 0) errors.add(['hosts', String(twice)], `${hosts[twice]} is listed twice.`);
    checkCredentials(basis, errors);
    checkVerify(members.verify, basis, errors);
  }
  return { manifest, icon: members.icon, basis };
}

/** Returns undefined when one of the parts is invalid, because checks against the others would report false errors. */
function basisOf(value: unknown, { hosts, ...members }: Partial<BundleManifest>): RequestBasis | undefined {
  const isInvalid = (['credentials_schema', 'inject', 'credential_places', 'oauth'] as const).some(
    (name) => members[name] === undefined && Object.hasOwn(Object(value), name),
  );
  return hosts === undefined || isInvalid ? undefined : { ...members, hosts };
}

function checkVerify(verify: BundleManifest['verify'], basis: RequestBasis, errors: ErrorCollector): void {
  if (verify === undefined) return;
  if (basis.credential_places !== undefined) errors.add(['verify'], needsHandler);
  const { request, response } = verify;
  checkRequest(request, ['verify', 'request'], { context: requestContext(basis, new Set()), errors });
  if (response !== undefined) checkResponse(response, ['verify', 'response'], errors);
}

/** Reads the icon. A missing or invalid icon is a failure, and the bundle loads without it. */
async function findIcon(folder: string, icon: string | undefined, errors: ErrorCollector): Promise<BundleIcon | null> {
  if (icon === undefined) return null;
  const reading = await readIcon({ folder, name: icon });
  if ('icon' in reading) return reading.icon;
  errors.add(['icon'], reading.refusal);
  return null;
}

interface ManifestRead {
  readonly name: string;
  readonly basis: RequestBasis | undefined;
  readonly pluginIds: readonly string[];
}

/** Reads the plugins sequentially. Parsing takes most of the time, so concurrency would not help. */
async function readPlugins(folder: string, bundle: ManifestRead): Promise<PluginReading[]> {
  const readings: PluginReading[] = [];
  for (const pluginId of bundle.pluginIds) {
    const label = `${bundle.name}/${pluginId}.yaml`;
    const file = { label, pluginId, basis: bundle.basis };
    readings.push(await readPluginSafely(folder, file));
  }
  return readings;
}

/** Turns an unexpected error into a failure of this plugin only. */
async function readPluginSafely(folder: string, file: PluginFile): Promise<PluginReading> {
  try {
    return await readPlugin(folder, file);
  } catch (error) {
    return { plugin: undefined, failures: oneFailure(file.label, `The plugin cannot be read: ${reasonOf(error)}.`) };
  }
}

/** Tells the files of plugins from YAML files that would not be loaded. */
function sortFiles(name: string, files: readonly string[]): { pluginIds: string[]; failures: BundleFailure[] } {
  const pluginIds: string[] = [];
  const failures: BundleFailure[] = [];
  const refuse = (file: string, message: string) => {
    failures.push(...oneFailure(`${name}/${file}`, message));
  };
  for (const file of files) {
    if (file === manifestName) continue;
    if (file.includes('/'))
      refuse(file, 'YAML files in subfolders are not loaded. Move it into the folder of the bundle or into fixtures/.');
    else if (file.endsWith('.yml')) refuse(file, 'Must end in .yaml, like every plugin file.');
    else pluginIds.push(file.slice(0, -'.yaml'.length));
  }
  return { pluginIds: pluginIds.sort(), failures };
}

/** Lists the YAML files below the folder, without hidden folders, installed packages and recordings. */
async function listYaml(folder: string, prefix = ''): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) {
      const skipped = entry.name.startsWith('.') || entry.name === 'node_modules' || path === 'fixtures';
      if (!skipped) found.push(...(await listYaml(folder, `${path}/`)));
    } else if (/\.ya?ml$/.test(entry.name)) found.push(path);
  }
  return found.sort();
}

function oneFailure(file: string, message: string): readonly BundleFailure[] {
  const errors = createErrorCollector(file, () => null);
  errors.add([], message);
  return errors.list;
}
