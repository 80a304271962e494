import { Command } from 'commander';
import { withConnection } from '../connection/connection-options.ts';
import { readLimit } from '../output/print-items.ts';
import type { ListOptions, Output } from './plugins-actions.ts';

/** Lists and shows the plugins of a service. `run` runs them. */
export function pluginsCommands(): Command {
  const plugins = new Command('plugins').description('list and show plugins of a service');
  withConnection(plugins.command('list').description('list plugins'), 'plugins')
    .argument('[words...]', 'list only plugins that match these words, best first')
    .option('--bundle <id>', 'list only plugins of this bundle')
    .option('--limit <number>', 'list at most this many plugins; default: all, or 20 with words', readLimit)
    .action(async (words: string[], options: ListOptions) =>
      (await import('./plugins-actions.ts')).listPlugins(words, options),
    );
  withConnection(
    plugins.command('show').description('print a plugin with the schemas of its inputs and output'),
    'plugins',
  )
    .argument('<plugin>', 'bundle and plugin, such as calculator/evaluate')
    .action(async (plugin: string, options: Output) =>
      (await import('./plugins-actions.ts')).showPlugin(plugin, options),
    );
  return plugins;
}
