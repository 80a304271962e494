import { createHash } from 'node:crypto';

/** The shortest limit of those who call tools: some clients count 60 characters, providers 64. */
const maxLength = 60;

/**
 * The one name of a plugin among all bundles: `bundle__plugin`, of letters, digits and `_`, starting with a letter.
 * A name that would be too long, or that another pair of ids could have too, ends in a hash of its ids instead.
 */
export function toolName(bundleId: string, pluginId: string): string {
  const name = `${bundleId}__${pluginId}`;
  if (name.length <= maxLength && !bundleId.includes('__') && !pluginId.includes('__')) return name;
  const hash = createHash('sha256').update(`${bundleId}/${pluginId}`).digest('hex').slice(0, 10);
  return `${name.slice(0, maxLength - hash.length - 1)}_${hash}`;
}
