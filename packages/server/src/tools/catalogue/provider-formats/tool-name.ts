import { createHash } from 'node:crypto';

/** The shortest limit among clients: some allow 60 characters, providers 64. */
const maxLength = 60;
const separator = '__';

/**
 * The name of a plugin that is unique among all bundles: `bundle__plugin`, of letters, digits and `_`, starting with a letter. A
 * name that is too long or ambiguous ends with a hash of its ids. The bundle is cut first, because the plugin tells tools of one
 * bundle apart.
 */
export function toolName(bundleId: string, pluginId: string): string {
  const name = `${bundleId}${separator}${pluginId}`;
  const isAmbiguous = bundleId.includes(separator) || pluginId.includes(separator);
  if (name.length <= maxLength && !isAmbiguous) return name;
  const hash = createHash('sha256').update(`${bundleId}/${pluginId}`).digest('hex').slice(0, 10);
  const room = maxLength - hash.length - 1;
  if (name.length <= room) return `${name}_${hash}`;
  const bundleRoom = room - separator.length - pluginId.length;
  if (bundleRoom >= shortestBundle) return `${bundleId.slice(0, bundleRoom)}${separator}${pluginId}_${hash}`;
  return `${bundleId.slice(0, shortestBundle)}${separator}${cutMiddle(pluginId, room - separator.length - shortestBundle)}_${hash}`;
}

/** The bundle keeps its first letters, so that a name starts with a letter and hints at its origin. */
const shortestBundle = 3;

/** Long ids of one interface often begin alike, and end alike as well. */
function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = Math.floor((length - 1) / 2);
  return `${text.slice(0, length - 1 - end)}_${text.slice(text.length - end)}`;
}

/** The name of a plugin within its bundle: its id, shortened with a hash when it exceeds the limit of clients. */
export function shortToolName(pluginId: string): string {
  if (pluginId.length <= maxLength) return pluginId;
  const hash = createHash('sha256').update(pluginId).digest('hex').slice(0, 10);
  return `${pluginId.slice(0, maxLength - hash.length - 1)}_${hash}`;
}
