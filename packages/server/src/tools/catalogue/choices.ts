import type { Plugin } from '@quartermaster/contract';
import type { PluginManifest } from '@quartermaster/plugin-kit';

export type Choices = NonNullable<Plugin['choices']>;

/** The inputs of a plugin whose values the third party knows. */
export function choicesOf(manifest: PluginManifest & { readonly piece?: { readonly choices?: Choices } }): Choices {
  return manifest.piece?.choices ?? {};
}
