import { type ConnectionOptions, connect } from '../connection/connection.ts';
import { printJson, printTable } from '../output/print.ts';
import { checkPluginName } from '../runs/execute-plugin.ts';

export interface Output extends ConnectionOptions {
  readonly json?: true;
}

export interface ListOptions extends Output {
  readonly bundle?: string;
}

export async function listPlugins(words: readonly string[], { bundle, ...options }: ListOptions): Promise<void> {
  const qm = await connect(options, 'plugins');
  const wanted = words.map((word) => word.toLowerCase());
  const plugins = (await qm.plugins.list({ bundle_id: bundle })).filter((plugin) => {
    const text = [plugin.bundle_id, plugin.plugin_id, plugin.name, plugin.description].join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  if (options.json === true) {
    for (const plugin of plugins) printJson(plugin);
    return;
  }
  printTable(
    ['PLUGIN', 'EFFECTS', 'DESCRIPTION'],
    plugins.map(({ bundle_id, plugin_id, effects, description }) => [
      ...[`${bundle_id}/${plugin_id}`, effects],
      description.length > 80 ? `${description.slice(0, 79)}…` : description,
    ]),
  );
}

export async function showPlugin(plugin: string, options: Output): Promise<void> {
  checkPluginName(plugin, 'plugins show');
  const qm = await connect(options, 'plugins');
  printJson(await qm.plugins.get(plugin), options.json === true ? undefined : 2);
}
