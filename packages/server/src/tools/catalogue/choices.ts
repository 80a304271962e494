import type { Plugin } from '@quartermaster/contract';
import type { PluginManifest } from '@quartermaster/plugin-kit';

export type Choices = NonNullable<Plugin['choices']>;

/** The inputs of a plugin whose values the third party knows. They can also depend on the credentials, which are no inputs. */
export function choicesOf({ piece, input_schema: schema }: PluginManifest): Choices {
  const { properties = {} } = schema as { properties?: object }; // JSON Schema, checked
  const entries = Object.entries(piece?.choices ?? {}).map(([name, { kind, depends_on: names }]) => {
    return [name, { kind, depends_on: names.filter((one) => Object.hasOwn(properties, one)) }] as const;
  });
  return Object.fromEntries(entries);
}
