import type { Catalogue, CompiledPlugin } from '../../catalogue/catalogue.ts';
import type { PluginSearch } from '../../catalogue/plugin-search.ts';
import { isJsonObject } from '../../kernel/json/json-object.ts';
import {
  createShortTextIndex,
  type ShortText,
  type ShortTextIndex,
} from '../../search/short-texts/short-text-index.ts';

/** The part of the catalogue that is searched. */
export type PluginSource = Pick<Catalogue, 'bundles' | 'describePlugin' | 'describeBundle'>;

/** @param catalogue the catalogue in force; a new object means that plugins have changed */
export function createPluginSearch(catalogue: () => PluginSource): PluginSearch {
  let indexed: PluginSource | undefined;
  let index: Promise<ShortTextIndex<CompiledPlugin>> | undefined;
  return {
    async find(question) {
      const source = catalogue();
      if (index === undefined || source !== indexed) {
        const building = createShortTextIndex(textsOf(source));
        [indexed, index] = [source, building];
        // The next search tries again.
        building.catch(() => {
          if (index === building) index = undefined;
        });
      }
      return (await index).find(question);
    },
  };
}

function* textsOf(source: PluginSource): Generator<ShortText<CompiledPlugin>> {
  for (const bundle of source.bundles.values()) {
    const { name, description } = source.describeBundle(bundle, 'en');
    for (const plugin of bundle.plugins.values()) {
      const record = source.describePlugin(plugin, 'en');
      const inputs = inputsOf(record.input_schema);
      const fields = [
        { text: plugin.id, weight: 4 },
        { text: record.name, weight: 3 },
        { text: `${bundle.id} ${name}`, weight: 2 },
        { text: record.description, weight: 2 },
        { text: inputs.map((input) => input.name).join(' '), weight: 1 },
        { text: description, weight: 1 },
        { text: inputs.map((input) => input.description).join(' '), weight: 0.5 },
      ];
      yield { item: plugin, fields };
    }
  }
}

function inputsOf(schema: Readonly<Record<string, unknown>>): Array<{ name: string; description: string }> {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).map(([name, property]) => {
    const description: unknown = Reflect.get(Object(property), 'description');
    return { name, description: typeof description === 'string' ? description : '' };
  });
}
