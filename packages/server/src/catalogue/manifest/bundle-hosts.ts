import type { BundleManifest } from '@quartermaster/plugin-kit';

/** Bundle → hosts, as the operator has set them. */
export type OperatorHosts = ReadonlyMap<string, readonly string[]>;

/** Whether the operator says where the bundle may call. */
export function leavesHosts({ hosts }: BundleManifest): boolean {
  return !Array.isArray(hosts);
}

/** The hosts that the bundle itself declares. */
export function declaredHosts({ hosts }: BundleManifest): readonly string[] {
  return Array.isArray(hosts) ? hosts : [];
}

/** What an address in the bundle is held against. */
export function knownHosts({ hosts }: BundleManifest): readonly string[] | 'operator' {
  return Array.isArray(hosts) ? hosts : 'operator';
}

/** Where the bundle may call: what it declares or what the operator allows it, never both. */
export function hostsInForce(manifest: BundleManifest, allowed: OperatorHosts = new Map()): readonly string[] {
  return leavesHosts(manifest) ? (allowed.get(manifest.id) ?? []) : declaredHosts(manifest);
}

/** The credential that names the one host to which the others go; undefined where they go to every declared host. */
export function credentialsHostOf({ hosts }: BundleManifest): string | undefined {
  return 'credentials_to' in hosts ? hosts.credentials_to : undefined;
}
