import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package of others that is needed to run, or whose code is in the built console. */
export interface Component {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** The folder where it is installed. */
  readonly folder: string;
  readonly integrity: string;
  readonly isOptional: boolean;
}

interface Entry {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly integrity: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

const installed = 'node_modules/';

/** Lists the packages that production needs, by the lockfile of the root or of the console. */
export function listComponents(root: string, lockFolder = '.'): Component[] {
  const lockfile = readFileSync(join(root, lockFolder, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lockfile) as { packages: Record<string, Entry> };
  return Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes(installed) && dev !== true && link !== true)
    .map(([path, entry]) => ({
      name: entry.name ?? path.slice(path.lastIndexOf(installed) + installed.length),
      version: entry.version,
      licence: entry.license ?? 'unknown',
      folder: join(lockFolder, path),
      integrity: entry.integrity,
      isOptional: entry.optional === true || entry.devOptional === true,
    }));
}

/** A CycloneDX document. */
export function describeComponents(version: string, components: readonly Component[]) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: 'quartermaster', version } },
    components: components.map((component) => {
      const [algorithm = '', digest = ''] = component.integrity.split('-', 2);
      return {
        type: 'library',
        'bom-ref': `${component.folder}@${component.version}`,
        name: component.name,
        version: component.version,
        purl: `pkg:npm/${component.name.replace('@', '%40')}@${component.version}`,
        scope: component.isOptional ? 'optional' : 'required',
        hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }],
        licenses: [{ expression: component.licence }],
      };
    }),
  };
}

/**
 * Writes the tree of packages that was tested as the npm-shrinkwrap.json of the published package, so that an installation has the
 * same versions. The packages of the workspaces become those of the root.
 * @throws Error when two workspaces need different versions in the same place
 */
export function writeShrinkwrap(
  root: string,
  manifest: { readonly name: string; readonly version: string },
  isBundled: (name: string) => boolean,
): string {
  const lockfile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    lockfileVersion: number;
    packages: Record<string, Entry>;
  };
  const packages: Record<string, unknown> = { '': manifest };
  for (const { name, folder } of listComponents(root).filter(isOfProduct)) {
    if (isBundled(name)) continue;
    const { devOptional: _, ...entry } = lockfile.packages[folder] ?? {};
    const path = folder.replace(/^packages\/[^/]+\//, '');
    if (path in packages) throw new Error(`Two versions of ${path} are needed.`);
    packages[path] = entry;
  }
  const { name, version } = manifest;
  const { lockfileVersion } = lockfile;
  return `${JSON.stringify({ name, version, lockfileVersion, requires: true, packages })}\n`;
}

/** Excludes the Node.js of a checkout. */
export function isOfProduct({ folder }: Component): boolean {
  return !/^node_modules\/node-(linux|darwin)-/.test(folder);
}

/** Licences whose code may be shipped with ours. */
const allowed = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'MIT-0', 'MPL-2.0'];

/** Joins the licences of the components. @throws Error that names a component whose licence is not allowed or has no text */
export function writeNotices(root: string, components: readonly Component[]): string {
  const notices = components.map(({ name, version, licence, folder }) => {
    const choices = licence.replaceAll(/[()]/g, '').split(' OR ');
    if (!choices.some((choice) => allowed.includes(choice))) {
      throw new Error(`${name} ${version} has the licence ${licence}; allowed are ${allowed.join(', ')}.`);
    }
    return `${name} ${version} (${licence})\n\n${readLicence(join(root, folder))}`;
  });
  return `${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** Returns the licence and notice texts of a package, or the `license` and `author` of its package.json if it has no such files. */
function readLicence(folder: string): string {
  const texts = readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').trim());
  if (texts.length > 0) return texts.join('\n\n');
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  return `The package has no licence file. Its package.json says: ${JSON.stringify({ license, author })}`;
}
