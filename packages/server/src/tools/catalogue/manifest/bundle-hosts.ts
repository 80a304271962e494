import type { BundleManifest } from '@quartermaster/plugin-kit';

/** The hosts of each bundle that the operator allows. */
export type OperatorHosts = ReadonlyMap<string, readonly string[]>;

type Hosts = Pick<BundleManifest, 'hosts'>;

/** Whether the bundle leaves its hosts to the operator. */
export function leavesHosts({ hosts }: Hosts): boolean {
  return !Array.isArray(hosts);
}

/** The hosts that the bundle declares. */
export function declaredHosts({ hosts }: Hosts): readonly string[] {
  return Array.isArray(hosts) ? hosts : [];
}

/** The hosts that URLs in the bundle are checked against. */
export function knownHosts({ hosts }: Hosts): readonly string[] | 'operator' {
  return Array.isArray(hosts) ? hosts : 'operator';
}

/** The hosts that the bundle may call: either those it declares or those that the operator allows. */
export function hostsInForce(manifest: BundleManifest, allowed: OperatorHosts = new Map()): readonly string[] {
  return leavesHosts(manifest) ? (allowed.get(manifest.id) ?? []) : declaredHosts(manifest);
}

/** The credential that names the only host for all credentials. Undefined when they go to every declared host. */
export function credentialsHostOf({ hosts }: Hosts): string | undefined {
  return 'credentials_to' in hosts ? hosts.credentials_to : undefined;
}
