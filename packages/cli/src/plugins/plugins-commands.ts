import type { Quartermaster } from '@quartermaster/client';
import { Command } from 'commander';
import { callService, type ServiceOptions, withConnection } from '../connection/service-command.ts';
import { printJson } from '../output/print.ts';
import { mostItems, printList, readLimit } from '../output/print-items.ts';
import { checkPluginName } from '../read-arguments.ts';

interface ListOptions extends ServiceOptions {
  readonly bundle?: string;
  readonly limit?: number;
}

/** Lists and shows the plugins of a service. `run` runs them. */
export function pluginsCommands(): Command {
  const plugins = new Command('plugins').description('list and show plugins of a service');
  withConnection(plugins.command('list').description('list plugins'), 'plugins')
    .argument('[words...]', 'list only plugins that match these words, best first')
    .option('--bundle <id>', 'list only plugins of this bundle')
    .option('--limit <number>', 'list at most this many plugins; default: all, or 20 with words', readLimit)
    .action(callService('plugins', listPlugins));
  withConnection(
    plugins.command('show').description('print a plugin with the schemas of its inputs and output'),
    'plugins',
  )
    .argument('<plugin>', 'bundle and plugin, such as calculator/evaluate')
    .action(
      callService('plugins', async (qm, plugin: string, { json }: ServiceOptions) => {
        checkPluginName(plugin, 'plugins show');
        printJson(await qm.plugins.get(plugin), json === true ? undefined : 2);
      }),
    );
  return plugins;
}

async function listPlugins(qm: Quartermaster, words: string[], { bundle, limit, json }: ListOptions): Promise<void> {
  const q = words.length === 0 ? undefined : words.join(' ');
  const options = { limit: limit ?? (q === undefined ? mostItems : 20), ...(json === undefined ? {} : { json }) };
  await printList(options, (page) => qm.plugins.pages({ bundle_id: bundle, q, limit: page.limit }), {
    isCounted: false,
    heads: ['PLUGIN', 'EFFECTS', 'DESCRIPTION'],
    row: ({ bundle_id, plugin_id, effects, description }) => [
      ...[`${bundle_id}/${plugin_id}`, effects],
      description.length > 80 ? `${description.slice(0, 79)}…` : description,
    ],
  });
}
