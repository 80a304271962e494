import { isJson, isWritable, type Json, memberOf } from '../openapi/document.ts';
import type { RecipePlugin } from './recipe.ts';
import { formsOf, itemsOf, memberAt, mergePatch, type Place, placeOf, withUsedDefinitions } from './schema-path.ts';

/** What the document offers for one operation, or what remains of it. */
export interface Call {
  readonly input_schema: Json;
  readonly request: Json;
}

type Report = (problem: string) => void;

/** Chooses and changes the inputs of an operation, and sends the values that the recipe sets. */
export function chooseInputs(call: Call, wanted: RecipePlugin, report: Report): Call {
  const root = placeOf(call.input_schema);
  const offered: Json = isJson(call.input_schema.properties) ? call.input_schema.properties : {};
  const set = wanted.set ?? {};
  const added = new Map<string, Json>();
  for (const [name, value] of Object.entries(set)) {
    const schema = memberOf(offered, name);
    if (!isJson(schema)) report(`set/${name}: the operation has no such input. It has: ${listed(offered)}`);
    else readTemplate(value, { ...root, schema }, { path: `set/${name}`, added, report });
  }
  const inputs = wanted.inputs ?? defaultInputs(offered, set, added);
  const properties: Record<string, Json> = {};
  for (const [name, patch] of Object.entries(inputs)) {
    const base = added.get(name) ?? (Object.hasOwn(set, name) ? undefined : memberOf(offered, name));
    if (!isJson(base)) report(`inputs/${name}: the operation has no such input. It has: ${listed(offered)}`);
    else if (isWritable(name)) properties[name] = Object(mergePatch(base, patch));
  }
  const { paging } = wanted;
  if (paging !== undefined) {
    const page = memberOf(offered, paging.input);
    if (!isJson(page)) report(`paging/input: the operation has no input ${paging.input}. It has: ${listed(offered)}`);
    else
      properties[paging.input] ??= {
        ...page,
        description: '`next_page` of the previous answer. Default: the first page.',
      };
  }
  for (const name of added.keys()) if (!Object.hasOwn(properties, name)) report(`set: inputs does not list {${name}}`);
  const required = requiredOf(call.input_schema, { wanted, properties, set }, report);
  const { $defs: _, required: __, ...schema } = call.input_schema;
  return {
    input_schema: withUsedDefinitions(
      { ...schema, ...(required.length === 0 ? {} : { required }), properties },
      root.defs,
    ),
    request: fillRequest(call.request, { set, isOffered: (name) => Object.hasOwn(properties, name) }),
  };
}

function listed(properties: Json): string {
  return Object.keys(properties).join(', ') || 'none';
}

function defaultInputs(offered: Json, set: Json, added: ReadonlyMap<string, Json>): Readonly<Record<string, Json>> {
  const names = [...Object.keys(offered).filter((name) => !Object.hasOwn(set, name)), ...added.keys()];
  return Object.fromEntries(names.map((name) => [name, {}]));
}

interface Chosen {
  readonly wanted: RecipePlugin;
  readonly properties: Readonly<Record<string, Json>>;
  readonly set: Json;
}

function requiredOf(schema: Json, { wanted, properties, set }: Chosen, report: Report): string[] {
  const byDocument = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const open = byDocument.filter((name) => !Object.hasOwn(set, name) && properties[name]?.default === undefined);
  const required = wanted.required ?? open;
  for (const name of open)
    if (!required.includes(name) || !Object.hasOwn(properties, name))
      report(`inputs/${name}: the document requires it`);
  for (const name of required) if (!Object.hasOwn(properties, name)) report(`required: there is no input ${name}`);
  return [...required];
}

interface TemplateContext {
  readonly path: string;
  readonly added: Map<string, Json>;
  readonly report: Report;
}

/** Checks that the document describes the members of a value, and finds the schemas of its placeholders. */
function readTemplate(value: unknown, place: Place, context: TemplateContext): void {
  const { path, added, report } = context;
  if (typeof value === 'string') {
    const [, whole] = /^\{([\w.-]+)\}$/.exec(value) ?? [];
    if (whole !== undefined) added.set(whole, withDescription(place, whole));
    else
      for (const [, name = ''] of value.replaceAll('{{', '').matchAll(/\{([\w.-]+)\}/g))
        added.set(name, added.get(name) ?? { type: 'string', description: `${name}.` });
  } else if (Array.isArray(value)) {
    const items = itemsOf(place);
    if (items === undefined) report(`${path}: the document has no list here`);
    else for (const item of value) readTemplate(item, items, { ...context, path: `${path}/[]` });
  } else if (isJson(value)) {
    for (const [name, member] of Object.entries(value)) {
      const found = memberAt(place, name);
      if (found === undefined) report(`${path}/${name}: the document has no such member`);
      else readTemplate(member, found, { ...context, path: `${path}/${name}` });
    }
  }
}

function withDescription(place: Place, name: string): Json {
  const [form = {}] = formsOf(place);
  const isReference = typeof place.schema.$ref === 'string';
  return { description: form.description ?? `${name}.`, ...(isReference ? form : place.schema) };
}

interface Filling {
  readonly set: Json;
  readonly isOffered: (input: string) => boolean;
}

const sections = ['query', 'headers', 'cookies'] as const;

/** Puts the set values in the place of their inputs, and leaves out inputs that are not offered. */
function fillRequest(request: Json, filling: Filling): Json {
  const result: Record<string, unknown> = { ...request, url: fillUrl(String(request.url), filling) };
  for (const section of sections) {
    if (!isJson(request[section])) continue;
    const filled = fillMembers(request[section], filling);
    if (Object.keys(filled).length === 0) delete result[section];
    else result[section] = filled;
  }
  const body = isJson(request.body) ? fillMembers(request.body, filling) : fillValue(request.body, filling);
  const isEmpty = body === undefined || (isJson(request.body) && Object.keys(Object(body)).length === 0);
  if (!isEmpty) result.body = body;
  else for (const name of ['body', 'body_type', 'files']) delete result[name];
  if (isJson(request.files) && isJson(body)) result.files = onlyKnown(request.files, body, filling);
  const styles = isJson(request.styles) ? knownStyles(request.styles, result) : {};
  if (Object.keys(styles).length > 0) result.styles = styles;
  else delete result.styles;
  return result;
}

function fillUrl(url: string, { set }: Filling): string {
  return Object.entries(set).reduce(
    (filled, [name, value]) =>
      filled.replaceAll(`{${name}}`, () =>
        /[{}]/.test(String(value)) ? String(value) : encodeURIComponent(String(value)),
      ),
    url,
  );
}

/** @returns undefined for an input that is not offered */
function fillValue(template: unknown, { set, isOffered }: Filling): unknown {
  const [, name] = typeof template === 'string' ? (/^\{([\w.-]+)\}$/.exec(template) ?? []) : [];
  if (name === undefined) return template;
  if (Object.hasOwn(set, name)) return set[name];
  return isOffered(name) ? template : undefined;
}

function fillMembers(members: Json, filling: Filling): Json {
  const filled = Object.entries(members).map(([name, template]) => [name, fillValue(template, filling)] as const);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
}

function onlyKnown(files: Json, body: Json, filling: Filling): Json {
  const kept = Object.entries(files).filter(([name]) => Object.hasOwn(body, name));
  return Object.fromEntries(kept.map(([name, file]) => [name, isJson(file) ? fillMembers(file, filling) : file]));
}

function knownStyles(styles: Json, request: Json): Json {
  const lists = Object.entries(styles).map(([section, names]) => {
    const sent = section === 'path' ? undefined : request[section === 'form' ? 'body' : section];
    const kept = Object.entries(Object(names)).filter(([name]) =>
      section === 'path' ? String(request.url).includes(`{${name}}`) : Object.hasOwn(Object(sent), name),
    );
    return [section, Object.fromEntries(kept)] as const;
  });
  return Object.fromEntries(lists.filter(([, names]) => Object.keys(names).length > 0));
}
