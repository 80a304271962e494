import { parse } from 'yaml';
import { isJson, type Json, textOf } from '../openapi/document.ts';

/**
 * What is chosen from the document of one vendor, and how it becomes a bundle. It is data of a file `recipes/NAME.yaml`;
 * docs/guides/importing.md describes its members.
 */
export interface Recipe {
  readonly document: {
    /** That of the document. A document with another title is refused. */
    readonly title: string;
    /** Where the vendor publishes the document. */
    readonly url: string;
    /** That of the document with which the recipe was compared. Another version gives a note. */
    readonly version: string;
    /** Who wrote the document, when it is not the vendor. */
    readonly written_by?: string;
  };
  /** The base of every request, without a trailing slash. `{name}` in its host must be chosen at the import. */
  readonly server: string;
  /** The members of `bundle.yaml`. `hosts` names only those beside the host of `server`. */
  readonly bundle: Json & { readonly id: string };
  readonly plugins: readonly RecipePlugin[];
}

export interface RecipePlugin {
  readonly id: string;
  /** `GET /v1/customers`, or an `operationId`. */
  readonly operation: string;
  readonly name: unknown;
  readonly description: unknown;
  readonly effects: 'read' | 'write' | 'destructive';
  readonly idempotent?: boolean;
  /** The inputs to offer, with changes of their schemas (RFC 7396). Default: all. */
  readonly inputs?: Readonly<Record<string, Json>>;
  /** Default: those that the document requires and that have no default here. */
  readonly required?: readonly string[];
  /** Values to send instead of inputs of the document. `{name}` in them is an input of its own. */
  readonly set?: Json;
  readonly paging?: { readonly input: string; readonly next: string; readonly while?: string };
  /** The members of the output, by paths in the answer. */
  readonly output?: OutputFields;
  /** Instead of `output`, with `response.output`. */
  readonly output_schema?: Json;
  /** Members of `response` of a plugin. */
  readonly response?: Json;
  readonly example?: Json;
}

export type OutputFields = Readonly<Record<string, OutputField>>;

/** A path, a path with changes of its schema, or a list or an object whose members are chosen. */
export type OutputField =
  | string
  | (Json & { readonly path?: string; readonly list?: string; readonly fields?: OutputFields | readonly string[] });

const members = {
  recipe: ['document', 'server', 'bundle', 'plugins'],
  document: ['title', 'url', 'version', 'written_by'],
  plugin: [
    ...['id', 'operation', 'name', 'description', 'effects', 'idempotent', 'inputs', 'required', 'set', 'paging'],
    ...['output', 'output_schema', 'response', 'example'],
  ],
  paging: ['input', 'next', 'while'],
} as const;

const needed = {
  recipe: members.recipe,
  document: ['title', 'url', 'version'],
  plugin: ['id', 'operation', 'name', 'description', 'effects'],
  paging: ['input', 'next'],
} as const;

/** @throws Error that names a member that is unknown, missing or of a wrong form */
export function parseRecipe(text: string): Recipe {
  const root: unknown = parse(text, { merge: true });
  checkMembers('recipe', root, '');
  const { document, bundle, plugins } = Object(root);
  checkMembers('document', document, 'document');
  if (!isJson(bundle) || textOf(bundle.id) === '') throw new Error('The recipe has no bundle/id.');
  if (!Array.isArray(plugins) || plugins.length === 0) throw new Error('plugins of the recipe must be a list.');
  plugins.forEach((plugin, index) => {
    checkMembers('plugin', plugin, `plugins/${index}`);
    if (plugin.paging !== undefined) checkMembers('paging', plugin.paging, `plugins/${index}/paging`);
  });
  return root as Recipe; // the catalogue checks the members of bundles and plugins
}

function checkMembers(kind: keyof typeof members, value: unknown, path: string): void {
  if (!isJson(value)) throw new Error(`${path || 'The recipe'} must be an object.`);
  const unknown = Object.keys(value).find((name) => !(members[kind] as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new Error(`Unknown member "${path}/${unknown}" in the recipe. Allowed: ${members[kind].join(', ')}.`);
  const missing = needed[kind].find((name) => value[name] === undefined);
  if (missing !== undefined) throw new Error(`The recipe has no ${path}/${missing}.`);
}
