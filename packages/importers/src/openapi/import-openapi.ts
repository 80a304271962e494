import { buildBundle } from './build-bundle.ts';
import { isJson, type Json, memberOf, type OpenApiDocument, type SchemaChecks, textOf } from './document.ts';
import { freeName, snakeCase } from './names.ts';
import { type ImportedOperation, importOperation, type Operation } from './operation.ts';
import { pluginIds } from './plugin-names.ts';
import { pagingOf } from './proposals.ts';
import { readDocument } from './read-document.ts';
import { createCredentials } from './security.ts';
import { createServers } from './servers.ts';

export type { SchemaChecks };

export interface ImportOptions {
  /** The id of the bundle. Default: derived from the document's title. */
  readonly id?: string | undefined;
  /** The URL of the API, in the place of those that the document names. */
  readonly server?: string | undefined;
  /** Where the document comes from. Relative URLs refer to it. */
  readonly address?: string | undefined;
  /** The operations to import, by `operationId` or plugin id. With `tags` and `paths`, all that one of them names. Default: all. */
  readonly operations?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Paths of the document, with everything below them. */
  readonly paths?: readonly string[] | undefined;
  /** Plugin ids by `operationId` or by their default. */
  readonly rename?: Readonly<Record<string, string>> | undefined;
}

export interface ImportedBundle {
  readonly bundle: Json & { readonly id: string };
  /** The manifests by plugin id. */
  readonly plugins: ReadonlyMap<string, Json>;
  readonly report: ImportReport;
  /** The name that the document states. */
  readonly licence?: string | null;
  /** That of the API. Default: `provider`. */
  readonly host?: string;
}

export interface ImportReport {
  readonly title: string;
  readonly openapi: string;
  readonly operations: number;
  readonly imported: ReadonlyArray<{
    readonly operation: string;
    readonly plugin_id: string;
    readonly notes: readonly string[];
  }>;
  readonly skipped: ReadonlyArray<{ readonly operation: string; readonly reason: string }>;
  readonly notes: readonly string[];
}

/**
 * Converts an OpenAPI document (2.0, 3.0 or 3.1; JSON or YAML) to a bundle of declarative plugins. It reads only the text. The
 * report lists every operation that was not imported, with the reason.
 * @throws Error when the document is unreadable or no operation can be imported
 */
export function importOpenApi(text: string, checks: SchemaChecks, options: ImportOptions = {}): ImportedBundle {
  try {
    return convertDocument(text, checks, options);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new Error('The document is nested too deeply, or refers to itself too often.', { cause });
  }
}

function convertDocument(text: string, checks: SchemaChecks, options: ImportOptions): ImportedBundle {
  const document = readDocument(text, checks);
  const servers = createServers(document, options);
  const credentials = createCredentials(document, servers.base);
  const plugins = new Map<string, ImportedOperation>();
  const imported: Array<ImportReport['imported'][number]> = [];
  const skipped: Array<ImportReport['skipped'][number]> = [];
  const all = operationsOf(document);
  const ids = pluginIds(all);
  const chosen = all.map((operation, index) => isChosen(operation, ids[index] ?? '', options));
  checkChoice(all, ids, options);
  for (const [index, operation] of all.entries()) {
    const name = `${operation.method.toUpperCase()} ${operation.path}`;
    if (chosen[index] !== true) {
      skipped.push({ operation: name, reason: 'not chosen' });
      continue;
    }
    const wanted = nameOf(operation, ids[index] ?? '', { options, taken: plugins });
    const result = importOperation(operation, { document, credentials, servers });
    if ('reason' in result) skipped.push({ operation: name, reason: result.reason });
    else {
      const { plugin, notes } = result;
      const paging = pagingOf(plugin);
      const described = String(plugin.description);
      const description = paging === undefined ? described : `${described.slice(0, 3_000)}\n\n${paging}`;
      plugins.set(wanted, { ...result, plugin: { ...plugin, description } });
      const proposed = paging === undefined ? [] : [`Proposed in the description: ${paging}`];
      imported.push({ operation: name, plugin_id: wanted, notes: [...notes, ...proposed] });
    }
  }
  if (plugins.size === 0)
    throw new Error(`No operation of ${all.length} can be imported: ${skipped[0]?.reason ?? 'the document has none'}.`);
  const mayRefuse = all.some(({ operation }) => memberOf(operation.responses, '401') !== undefined);
  if (mayRefuse && Object.keys(credentials.properties).length === 0) credentials.notes.add(noCredentials);
  const bundle = buildBundle(document, {
    id: options.id ?? snakeCase(titleOf(document)),
    title: titleOf(document),
    credentials,
    plugins,
  });
  return {
    ...bundle,
    licence: textOf(memberOf(memberOf(document.root.info, 'license'), 'name')).slice(0, 100) || null,
    report: {
      title: titleOf(document),
      openapi: document.version,
      operations: all.length,
      imported,
      skipped,
      notes: [...servers.notes, ...credentials.notes, ...bundle.notes],
    },
  };
}

const noCredentials =
  'The document describes no credentials, but the API can answer 401. If it needs any, add "credentials_schema" and "inject".';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export function operationsOf(document: OpenApiDocument): Operation[] {
  const paths = isJson(document.root.paths) ? Object.entries(document.root.paths) : [];
  return paths.flatMap(([path, value]) => {
    const item = document.follow(value);
    if (!isJson(item)) return [];
    return methods.flatMap((method) => {
      const operation = item[method];
      return isJson(operation) ? [{ method, path, item, operation }] : [];
    });
  });
}

/** An archive holds 2,000 files, of which two describe the bundle and the import. */
const mostOperations = 1_998;

/** @throws Error when too many are chosen, or a name chooses none */
function checkChoice(all: readonly Operation[], ids: readonly string[], { operations, tags, paths }: ImportOptions) {
  const chosen = all.filter((operation, index) => isChosen(operation, ids[index] ?? '', { operations, tags, paths }));
  if (chosen.length > mostOperations)
    throw new Error(
      `The import has ${chosen.length} operations; a bundle holds at most ${mostOperations}. Choose some by operation, tag or path (--operations, --tag, --path).`,
    );
  for (const [kind, names] of Object.entries({ operations, tags, paths })) {
    const unknown = names?.filter((name) => !all.some((one, at) => isChosen(one, ids[at] ?? '', { [kind]: [name] })));
    if (unknown === undefined || unknown.length === 0 || all.length === 0) continue;
    const shown = unknown.slice(0, 10).map((name) => JSON.stringify(name.slice(0, 60)));
    const more = unknown.length > 10 ? ` and ${unknown.length - 10} more` : '';
    throw new Error(
      `None of the ${all.length} operations has these ${kind}: ${shown.join(', ')}${more}. Check the spelling.`,
    );
  }
}

function isChosen({ path, operation }: Operation, id: string, { operations, tags, paths }: ImportOptions): boolean {
  if (operations === undefined && tags === undefined && paths === undefined) return true;
  const own = Array.isArray(operation.tags) ? operation.tags : [];
  const isBelow = (start: string) => path === start || path.startsWith(start.endsWith('/') ? start : `${start}/`);
  return (
    [textOf(operation.operationId), id].some((name) => operations?.includes(name)) ||
    own.some((tag) => tags?.includes(String(tag))) ||
    paths?.some(isBelow) === true
  );
}

/** The plugin id of an operation. */
function nameOf(
  { operation }: Operation,
  id: string,
  { options: { rename }, taken }: { options: ImportOptions; taken: ReadonlyMap<string, unknown> },
): string {
  const renamed = textOf(memberOf(rename, textOf(operation.operationId))) || textOf(memberOf(rename, id));
  // The id of a person stays, so that an error names it.
  return freeName(renamed || id, (name) => taken.has(name) || name === 'bundle');
}

export function titleOf(document: OpenApiDocument): string {
  return textOf(Reflect.get(Object(document.root.info), 'title')) || 'Imported API';
}
