import { isJsonObject } from '../../../platform/json/json-object.ts';
import {
  createShortTextIndex,
  type ShortText,
  type ShortTextIndex,
} from '../../../stores/search/short-texts/short-text-index.ts';
import type { Catalogue, CompiledPlugin } from '../../catalogue/catalogue.ts';
import type { PluginSearch } from '../../catalogue/plugin-search.ts';

/** The part of the catalogue that is searched. */
export type SearchSource = Pick<Catalogue, 'bundles'>;

/** @param catalogue the catalogue in force; a new object means that plugins have changed */
export function createPluginSearch(catalogue: () => SearchSource): PluginSearch {
  let indexed: SearchSource | undefined;
  let index: Promise<ShortTextIndex<CompiledPlugin>> | undefined;
  return {
    async find(question, weightOf) {
      const source = catalogue();
      if (index === undefined || source !== indexed) {
        const building = createShortTextIndex(textsOf(source));
        [indexed, index] = [source, building];
        // The next search tries again.
        building.catch(() => {
          if (index === building) index = undefined;
        });
      }
      return (await index).find(question, weightOf);
    },
  };
}

/** The characters of one field that are searched. Imported interfaces describe hundreds of inputs at length. */
const maxFieldCharacters = 2_000;

function* textsOf(source: SearchSource): Generator<ShortText<CompiledPlugin>> {
  for (const bundle of source.bundles.values()) {
    for (const plugin of bundle.plugins.values()) {
      const { manifest } = plugin;
      const texts = [bundle.manifest.name, bundle.manifest.description, manifest.name, manifest.description];
      yield { item: plugin, fields: inEnglish(plugin, texts).map(cut) };
      for (const language of otherLanguages(texts)) {
        const fields = described.map((field, index) => ({ text: ownText(texts[index], language), ...field }));
        yield { item: plugin, fields: fields.map(cut) };
      }
    }
  }
}

type Localised = CompiledPlugin['manifest']['name'];

/** The name and the description of a bundle, and the name and the description of a plugin. */
const described = [{ weight: 2, role: 'owner' }, { weight: 1 }, { weight: 3, role: 'title' }, { weight: 2 }] as const;

function inEnglish({ id, bundle, manifest }: CompiledPlugin, texts: readonly Localised[]) {
  const inputs = inputsOf(manifest.input_schema);
  return [
    ...described.map((field, index) => ({ text: englishText(texts[index]), ...field })),
    { text: id, weight: 4 },
    { text: bundle.id, weight: 2, role: 'owner' as const },
    { text: inputs.map((input) => input.name).join(' '), weight: 1 },
    { text: inputs.map((input) => input.description).join(' '), weight: 0.5 },
  ];
}

function englishText(text: Localised | undefined): string {
  return typeof text === 'string' ? text : (text?.en ?? '');
}

/** The text in a language that its author wrote; empty without one. */
function ownText(text: Localised | undefined, language: string): string {
  const own: unknown = Reflect.get(Object(text), language);
  return typeof own === 'string' ? own : '';
}

function otherLanguages(texts: readonly Localised[]): ReadonlySet<string> {
  const languages = texts.flatMap((text) => (typeof text === 'string' ? [] : Object.keys(text)));
  return new Set(languages.filter((language) => language !== 'en'));
}

function cut<Field extends { readonly text: string }>(field: Field): Field {
  return { ...field, text: field.text.slice(0, maxFieldCharacters) };
}

function inputsOf(schema: Readonly<Record<string, unknown>>): Array<{ name: string; description: string }> {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).map(([name, property]) => {
    const description: unknown = Reflect.get(Object(property), 'description');
    return { name, description: typeof description === 'string' ? description : '' };
  });
}
