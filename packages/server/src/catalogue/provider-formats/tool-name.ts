import { createHash } from 'node:crypto';

/** The shortest limit among clients: some allow 60 characters, providers 64. */
const maxLength = 60;

/**
 * The name of a plugin that is unique among all bundles: `bundle__plugin`, of letters, digits and `_`, starting with a letter. A
 * name that is too long or ambiguous ends with a hash of its ids.
 */
export function toolName(bundleId: string, pluginId: string): string {
  const name = `${bundleId}__${pluginId}`;
  if (name.length <= maxLength && !bundleId.includes('__') && !pluginId.includes('__')) return name;
  const hash = createHash('sha256').update(`${bundleId}/${pluginId}`).digest('hex').slice(0, 10);
  return `${name.slice(0, maxLength - hash.length - 1)}_${hash}`;
}
