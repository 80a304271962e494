import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const pluginsOfBundle = 100;

/**
 * Writes bundles as an import of OpenAPI documents does: plugins with large schemas and no code. Returns the number of
 * plugins.
 */
export async function writeImportedCatalogue(folder: string, plugins: number): Promise<number> {
  for (let bundle = 0; bundle < plugins / pluginsOfBundle; bundle++) {
    const id = `imported_${bundle}`;
    await mkdir(join(folder, id), { recursive: true });
    await writeFile(join(folder, id, 'bundle.yaml'), bundleYaml(id));
    for (let plugin = 0; plugin < Math.min(pluginsOfBundle, plugins - bundle * pluginsOfBundle); plugin++) {
      await writeFile(join(folder, id, `operation_${plugin}.yaml`), pluginYaml(plugin));
    }
  }
  return plugins;
}

function bundleYaml(id: string): string {
  return `id: ${id}
version: 1.0.0
name: ${id}
description: Operations of an imported interface.
provider: Example
developer: Quartermaster
hosts: [api.example.invalid]
`;
}

/** About 14 KiB, the mean size in documents of large APIs. */
function pluginYaml(number: number): string {
  const properties = (count: number, indent: string) =>
    Array.from({ length: count }, (_, index) => {
      const description = `Part ${index} of operation ${number}, as the document of the interface describes it at length.`;
      return `${indent}part_${index}: {type: string, maxLength: ${100 + index}, description: ${description}}`;
    }).join('\n');
  const items = properties(10, '              ');
  return `id: operation_${number}
name: Operation ${number}
description: Does what operation ${number} of the interface does.
effects: read
idempotent: true
input_schema:
  type: object
  additionalProperties: false
  properties:
${properties(40, '    ')}
output_schema:
  type: object
  properties:
${properties(30, '    ')}
    items:
      type: array
      description: What was found.
      items:
        type: object
        properties:
${items}
request: {url: 'https://api.example.invalid/operations/${number}', query: {part_0: '{part_0}'}}
`;
}
