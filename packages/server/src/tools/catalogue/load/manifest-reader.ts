import type { PluginManifest } from '@quartermaster/plugin-kit';
import { type PackedManifest, unpackManifest } from './packed-bundle.ts';

/** Parses manifests at first use and caches the most recently used ones. */
export type ManifestReader = (packed: PackedManifest) => PluginManifest;

/** The limit in bytes of JSON text. The parsed objects take a few times as much. */
const maxBytes = 4 * 1024 * 1024;

export function createManifestReader(limit = maxBytes): ManifestReader {
  const recent = new Map<PackedManifest, PluginManifest>();
  let bytes = 0;

  return (packed) => {
    const known = recent.get(packed);
    const manifest = known ?? unpackManifest(packed);
    recent.delete(packed);
    recent.set(packed, manifest);
    if (known === undefined) bytes += packed.length;
    for (const oldest of recent.keys()) {
      if (bytes <= limit || oldest === packed) break;
      recent.delete(oldest);
      bytes -= oldest.length;
    }
    return manifest;
  };
}
