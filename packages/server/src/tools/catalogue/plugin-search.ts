import type { CompiledPlugin } from './catalogue.ts';

/** Finds plugins by what they do. */
export interface PluginSearch {
  /**
   * Returns the plugins that match a question in plain words, best first. The first search of a catalogue builds its index.
   *
   * @param weightOf a factor for the score of a plugin. Default: 1 for each
   */
  find(question: string, weightOf?: (plugin: CompiledPlugin) => number): Promise<readonly CompiledPlugin[]>;
}
