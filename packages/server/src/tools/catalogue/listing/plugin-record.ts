import type { Plugin } from '@quartermaster/contract';
import type { PluginManifest } from '@quartermaster/plugin-kit';
import { choicesOf } from '../choices.ts';
import { withFileReferences } from '../file-references.ts';
import { inLanguage } from '../manifest/languages.ts';

export interface RecordOptions {
  readonly language: string;
  /** Whether inputs that are file content accept the names of stored files. Only a key with the scope `files` can name one. */
  readonly namesFiles: boolean;
}

/** Converts a plugin to its record in a list. */
export function pluginRecord(bundleId: string, manifest: PluginManifest, { language, namesFiles }: RecordOptions) {
  const { input_schema: input } = manifest;
  const choices = choicesOf(manifest);
  return {
    object: 'Plugin',
    bundle_id: bundleId,
    plugin_id: manifest.id,
    name: inLanguage(manifest.name, language),
    description: inLanguage(manifest.description, language),
    input_schema: { ...(namesFiles ? withFileReferences(input) : input) },
    output_schema: { ...manifest.output_schema },
    effects: manifest.effects,
    idempotent: manifest.idempotent,
    ...(Object.keys(choices).length > 0 ? { choices } : {}),
  } satisfies Plugin;
}
