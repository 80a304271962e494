import { type Json, memberOf, type SchemaChecks, textOf } from '../openapi/document.ts';
import { fitSchema } from '../openapi/fit-schema.ts';
import { type ImportedBundle, type ImportOptions, operationsOf, titleOf } from '../openapi/import-openapi.ts';
import { type ImportedOperation, importOperation, type Operation } from '../openapi/operation.ts';
import { readDocument } from '../openapi/read-document.ts';
import { createCredentials } from '../openapi/security.ts';
import { chooseInputs } from './choose-inputs.ts';
import { chooseOutput } from './choose-output.ts';
import { chooseServer } from './choose-server.ts';
import type { Recipe, RecipePlugin } from './recipe.ts';

/**
 * Imports what a recipe names from a document, in place of `importOpenApi`.
 * @throws Error that lists everything that the recipe names and the document does not have
 */
export function applyRecipe(
  text: string,
  recipe: Recipe,
  checks: SchemaChecks,
  options: Omit<ImportOptions, 'rename'> = {},
): ImportedBundle {
  const document = readDocument(text, checks);
  const title = titleOf(document);
  if (title.toLowerCase() !== recipe.document.title.toLowerCase())
    throw new Error(
      `The recipe is for the document ${JSON.stringify(recipe.document.title)}; this one is ${JSON.stringify(title.slice(0, 100))}. Use the document at ${recipe.document.url}, or import this one without the recipe.`,
    );
  const server = chooseServer(recipe.server, options.server);
  const problems: string[] = [];
  const all = operationsOf(document);
  const context = {
    document,
    credentials: createCredentials(document, server.base),
    servers: { ...server, find: () => ({ url: server.origin }), notes: [] },
    fit: unfitted,
  };
  const plugins = new Map<string, Json>();
  const imported: Array<ImportedBundle['report']['imported'][number]> = [];
  for (const wanted of chosenPlugins(recipe, options.operations, problems)) {
    const report = (problem: string) => void problems.push(`${wanted.id}: ${problem}`);
    const found = all.find((one) => isNamed(one, wanted.operation));
    if (found === undefined) {
      report(`the document has no operation ${wanted.operation}`);
      continue;
    }
    // The recipe decides where requests are sent and how they are authenticated.
    const operation = { ...found.operation, security: [] };
    const result = importOperation({ ...found, operation }, context);
    if ('reason' in result) {
      report(result.reason);
      continue;
    }
    for (const secret of result.inject)
      if (!isInjected(recipe.bundle, secret)) report(`no inject for ${nameOf(secret)}`);
    const { plugin, notes } = buildPlugin(result, { wanted, server, checks, report });
    plugins.set(wanted.id, plugin);
    imported.push({ operation: labelOf(found), plugin_id: wanted.id, notes });
  }
  if (problems.length > 0) throw new Error(drifted(problems));
  return {
    bundle: buildBundle(recipe, server, options.id),
    plugins,
    licence: textOf(memberOf(memberOf(document.root.info, 'license'), 'name')).slice(0, 100) || null,
    host: server.host,
    report: {
      title,
      openapi: document.version,
      // The recipe may use an operation of the document several times.
      operations: imported.length,
      imported,
      skipped: [],
      notes: [...otherVersion(recipe, Object(document.root.info).version), ...writtenByOthers(recipe)],
    },
  };
}

/** Schemas are shortened after the choice, because what it names may lie deep. */
const unfitted: typeof fitSchema = (schema) => ({ schema, note: null });

function isNamed({ method, path, operation }: Operation, name: string): boolean {
  return name === `${method.toUpperCase()} ${path}` || name === textOf(operation.operationId);
}

function labelOf({ method, path }: Operation): string {
  return `${method.toUpperCase()} ${path}`;
}

function chosenPlugins(
  { plugins }: Recipe,
  names: readonly string[] | undefined,
  problems: string[],
): readonly RecipePlugin[] {
  if (names === undefined) return plugins;
  const unknown = names.filter((name) => plugins.every(({ id }) => id !== name));
  problems.push(...unknown.map((name) => `${name}: the recipe has no such plugin`));
  return plugins.filter(({ id }) => names.includes(id));
}

function isInjected(bundle: Json, secret: ImportedOperation['inject'][number]): boolean {
  const own = Array.isArray(bundle.inject) ? bundle.inject : [];
  return own.some((one: unknown) => Object(one).in === secret.in && Object(one).name === nameOf(secret));
}

function nameOf(secret: object): string {
  return String(Reflect.get(secret, 'name'));
}

interface Building {
  readonly wanted: RecipePlugin;
  readonly server: ReturnType<typeof chooseServer>;
  readonly checks: SchemaChecks;
  readonly report: (problem: string) => void;
}

function buildPlugin({ plugin }: ImportedOperation, { wanted, server, checks, report }: Building) {
  const { id, name, description, effects, idempotent = plugin.idempotent, example } = wanted;
  const call = chooseInputs({ input_schema: plugin.input_schema, request: plugin.request }, wanted, report);
  const answer = chooseOutput({ output_schema: plugin.output_schema, response: plugin.response ?? {} }, wanted, report);
  const input = fitSchema(call.input_schema, checks);
  const output = fitSchema(answer.output_schema, checks);
  const url = `${server.base}${String(call.request.url).slice(server.origin.length)}`;
  return {
    plugin: {
      id,
      name,
      description,
      effects,
      idempotent,
      input_schema: input.schema,
      output_schema: output.schema,
      request: { ...call.request, url },
      ...(Object.keys(answer.response).length === 0 ? {} : { response: answer.response }),
      ...(example === undefined ? {} : { examples: [{ input: example }] }),
    },
    notes: [input.note && `input: ${input.note}`, output.note && `output: ${output.note}`].filter(
      (note) => note !== null,
    ),
  };
}

function buildBundle({ bundle }: Recipe, server: Building['server'], id = bundle.id): ImportedBundle['bundle'] {
  // `verify` and `oauth` may call the host that was chosen.
  const filled: Json = JSON.parse(JSON.stringify(bundle).replaceAll('{server}', server.base));
  const others = Array.isArray(bundle.hosts) ? bundle.hosts.map(String) : [];
  return { developer: 'Quartermaster', ...filled, id, hosts: [...new Set([server.host, ...others])] };
}

function drifted(problems: readonly string[]): string {
  const [shown, more] = [problems.slice(0, 20), problems.length - 20];
  return [
    `The recipe does not fit this document, so nothing is imported. It names what the document does not have:`,
    ...shown.map((problem) => `- ${problem}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join('\n');
}

function otherVersion({ document }: Recipe, version: unknown): string[] {
  if (version === document.version) return [];
  const other = textOf(version).slice(0, 40) || 'without a version';
  return [`The recipe was compared with version ${document.version} of the document; this one is ${other}.`];
}

function writtenByOthers({ document: { written_by: author } }: Recipe): string[] {
  return author === undefined
    ? []
    : [`The document was written by ${author}, not by the vendor. Requests may differ from the API.`];
}
