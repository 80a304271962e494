import { Command } from 'commander';
import { withConnection } from '../connection/connection-options.ts';
import type { ListOptions, Output } from './plugins-actions.ts';

/** Lists and shows the plugins of a service. `run` runs them. */
export function pluginsCommands(): Command {
  const plugins = new Command('plugins').description('list and show plugins of a service');
  withConnection(plugins.command('list').description('list plugins'), 'plugins')
    .argument('[words...]', 'list only plugins whose id, name or description contains all of these words')
    .option('--bundle <id>', 'list only plugins of this bundle')
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
