import { plainRoot } from './anthropic.ts';
import { createLosses, type FunctionFormat } from './function-format.ts';
import { toolName } from './tool-name.ts';

/** The format of a Model Context Protocol tool in `tools/list`. */
export const mcp: FunctionFormat = ({ plugin, reachesOut }) => {
  const losses = createLosses();
  return {
    definition: {
      name: toolName(plugin.bundle_id, plugin.plugin_id),
      title: plugin.name,
      description: plugin.description,
      inputSchema: plainRoot(plugin.input_schema, ['input_schema'], losses),
      outputSchema: plainRoot(plugin.output_schema, ['output_schema'], losses),
      annotations: {
        title: plugin.name,
        readOnlyHint: plugin.effects === 'read',
        destructiveHint: plugin.effects === 'destructive',
        idempotentHint: plugin.idempotent,
        openWorldHint: reachesOut,
      },
    },
    losses: losses.list,
  };
};
