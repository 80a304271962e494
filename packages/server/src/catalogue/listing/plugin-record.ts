import type { Plugin } from '@quartermaster/contract';
import type { PluginManifest } from '@quartermaster/plugin-kit';
import { withFileReferences } from '../file-references.ts';
import { inLanguage } from '../manifest/languages.ts';

/** Converts a plugin to its record in a list. */
export function pluginRecord(bundleId: string, manifest: PluginManifest, language: string) {
  return {
    object: 'Plugin',
    bundle_id: bundleId,
    plugin_id: manifest.id,
    name: inLanguage(manifest.name, language),
    description: inLanguage(manifest.description, language),
    input_schema: { ...withFileReferences(manifest.input_schema) },
    output_schema: { ...manifest.output_schema },
    effects: manifest.effects,
    idempotent: manifest.idempotent,
  } satisfies Plugin;
}
