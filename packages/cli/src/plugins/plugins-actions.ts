import { type ConnectionOptions, connect } from '../connection/connection.ts';
import { printJson } from '../output/print.ts';
import { mostItems, pageSize, printItems } from '../output/print-items.ts';
import { checkPluginName } from '../runs/execute-plugin.ts';

export interface Output extends ConnectionOptions {
  readonly json?: true;
}

export interface ListOptions extends Output {
  readonly bundle?: string;
  readonly limit?: number;
}

export async function listPlugins(words: readonly string[], { bundle, limit, ...options }: ListOptions): Promise<void> {
  const qm = await connect(options, 'plugins');
  const q = words.length === 0 ? undefined : words.join(' ');
  const most = limit ?? (q === undefined ? mostItems : 20);
  await printItems(qm.plugins.pages({ bundle_id: bundle, q, limit: pageSize(most) }), {
    json: options.json,
    limit: most,
    heads: ['PLUGIN', 'EFFECTS', 'DESCRIPTION'],
    row: ({ bundle_id, plugin_id, effects, description }) => [
      ...[`${bundle_id}/${plugin_id}`, effects],
      description.length > 80 ? `${description.slice(0, 79)}…` : description,
    ],
  });
}

export async function showPlugin(plugin: string, options: Output): Promise<void> {
  checkPluginName(plugin, 'plugins show');
  const qm = await connect(options, 'plugins');
  printJson(await qm.plugins.get(plugin), options.json === true ? undefined : 2);
}
