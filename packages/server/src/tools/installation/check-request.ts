import {
  type BundleInstallation,
  type BundlePlanRequest,
  bundleIdPattern,
  packageNamePattern,
  packageVersionPattern,
} from '@quartermaster/contract';
import { hostPattern } from '@quartermaster/plugin-kit';
import { nameInvalid } from './problems.ts';

// composed: the patterns of the contract; no class has the character that follows it.
const isBundleId = new RegExp(bundleIdPattern);
// composed: a pattern of the contract, as above.
const isPackage = new RegExp(packageNamePattern);
// composed: a pattern of the contract, as above.
const isVersion = new RegExp(packageVersionPattern);

/** Commands call this module without the schemas of the API. */
export function checkNames({ source, bundle_id: id }: BundlePlanRequest): void {
  if (id !== undefined && !isBundleId.test(id))
    throw nameInvalid('id', id, 'It needs 1 to 64 letters a-z, digits and underscores, and a letter first.');
  if (source.kind !== 'piece') return;
  if (!isPackage.test(source.package))
    throw nameInvalid('package', source.package, 'It needs a scope and a name, such as @activepieces/piece-slack.');
  if (source.version !== undefined && !isVersion.test(source.version))
    throw nameInvalid('version', source.version, 'Name an exact one, such as 1.0.0, or none for the latest.');
}

// composed: the pattern of manifests, whose alternatives begin with different characters.
const isHost = new RegExp(hostPattern);

/** Refuses URLs and wildcards among the hosts that an administrator has added. */
export function checkHosts({ hosts = [], credential_places: places }: Omit<BundleInstallation, 'digest'>): void {
  for (const host of [...hosts, ...(places?.hosts ?? [])]) {
    if (!isHost.test(host))
      throw nameInvalid(
        'host',
        host,
        'Name a host such as files.slack.com, in lower case, without https://, without a path and without *.',
      );
  }
}
