import type { Json } from '../openapi/document.ts';
import type { OutputField, OutputFields, RecipePlugin } from './recipe.ts';
import {
  formsOf,
  itemsOf,
  mergePatch,
  nullable,
  type Place,
  placeOf,
  readPath,
  type Step,
  schemaAt,
  withUsedDefinitions,
} from './schema-path.ts';

/** The output of an operation in the document, or of a plugin. */
export interface Answer {
  readonly output_schema: Json;
  readonly response: Json;
}

type Report = (problem: string) => void;

/** Chooses the members of the answer that become the output. */
export function chooseOutput(answer: Answer, wanted: RecipePlugin, report: Report): Answer {
  const { output, output_schema, paging, response = {} } = wanted;
  if (output_schema !== undefined) return { output_schema, response: { ...answer.response, ...response } };
  if (output === undefined && paging === undefined) {
    return { ...answer, response: { ...answer.response, ...response } };
  }
  const root = bodyOf(answer);
  const chosen = readFields(output ?? {}, { place: root, prefix: 'body', path: 'output', report });
  if (paging !== undefined) addPaging(chosen, paging, { root, report });
  const members = multiselect(chosen.parts);
  const whole: Json = output === undefined ? { ...answer.output_schema, ...root.schema } : { type: 'object' };
  const properties = { ...Object(output === undefined ? whole.properties : {}), ...chosen.properties };
  const { output: _, ...format } = answer.response;
  return {
    output_schema: withUsedDefinitions({ ...whole, properties }, root.defs),
    response: { ...format, output: output === undefined ? `merge(body, ${members})` : members, ...response },
  };
}

/** The schema of the body. The importer puts an answer that is no object into `result`. */
function bodyOf({ output_schema, response }: Answer): Place {
  const root = placeOf(output_schema);
  return response.output === '{result: body}' ? (schemaAt(root, [{ name: 'result' }]) ?? root) : root;
}

interface Chosen {
  readonly properties: Record<string, Json>;
  readonly parts: string[];
}

interface FieldContext {
  readonly place: Place;
  /** The value in the expression that paths begin at; empty for the current one. */
  readonly prefix: string;
  readonly path: string;
  readonly report: Report;
}

function readFields(fields: OutputFields | readonly string[], context: FieldContext): Chosen {
  const named = Array.isArray(fields)
    ? fields.map((name): [string, OutputField] => [name, name])
    : Object.entries(fields);
  const chosen: Chosen = { properties: {}, parts: [] };
  for (const [name, field] of named) {
    const path = `${context.path}/${name}`;
    const found = readField(typeof field === 'string' ? { path: field } : field, { ...context, path });
    if (found === undefined) continue;
    chosen.properties[name] = found.schema;
    chosen.parts.push(`${quoted(name)}: ${found.expression}`);
  }
  return chosen;
}

interface Field {
  readonly schema: Json;
  readonly expression: string;
}

function readField(field: Exclude<OutputField, string>, context: FieldContext): Field | undefined {
  const { path, list, fields, ...patch } = field;
  const steps = readPath(list ?? path ?? '@');
  const place = schemaAt(context.place, steps);
  if (place === undefined) return refuse(context, `the answer has no ${list ?? path}`);
  const at = expressionOf(steps, context.prefix);
  if (fields === undefined) {
    const isList = formsOf(place).every(({ type }) => [type].flat().includes('array'));
    const schema = isList ? inlined(place) : nullable(place);
    return { schema: Object(mergePatch(schema, patch)), expression: isList ? `${at} || \`[]\`` : at };
  }
  const item = list === undefined ? place : itemsOf(place);
  if (item === undefined) return refuse(context, `${list} is no list`);
  const { properties, parts } = readFields(fields, { ...context, place: item, prefix: '' });
  const object = { type: list === undefined ? ['object', 'null'] : 'object', properties };
  const description = descriptionOf(place, context.path);
  if (list === undefined)
    return { schema: { description, ...object, ...patch }, expression: `${at} && ${at}.${multiselect(parts)}` };
  return {
    schema: { type: 'array', description, items: { description: descriptionOf(item, 'Item'), ...object }, ...patch },
    expression: `(${at} || \`[]\`)[*].${multiselect(parts)}`,
  };
}

function refuse({ path, report }: FieldContext, problem: string): undefined {
  report(`${path}: ${problem}`);
  return undefined;
}

function inlined(place: Place): Json {
  return { description: 'List.', ...(formsOf(place)[0] ?? {}) };
}

function descriptionOf(place: Place, otherwise: string): string {
  const { description } = place.schema;
  return String(description ?? formsOf(place)[0]?.description ?? `${otherwise.split('/').at(-1)}.`);
}

function addPaging(
  { properties, parts }: Chosen,
  { input, next, while: condition }: NonNullable<RecipePlugin['paging']>,
  { root, report }: { root: Place; report: Report },
): void {
  const steps = readPath(next);
  const place = schemaAt(root, steps);
  if (place === undefined) {
    report(`paging/next: the answer has no ${next}`);
    return;
  }
  const more = condition === undefined ? undefined : readPath(condition);
  if (more !== undefined && schemaAt(root, more) === undefined) report(`paging/while: the answer has no ${condition}`);
  const description = `Pass it as \`${input}\` to read the next page; null after the last page.`;
  properties.next_page = { ...nullable(place), description };
  const at = expressionOf(steps, 'body');
  const value = more === undefined ? at : `${expressionOf(more, 'body')} && ${at}`;
  // An empty token and a false condition are null.
  parts.push(`next_page: ${value} || \`null\``);
}

function multiselect(parts: readonly string[]): string {
  return `{${parts.join(', ')}}`;
}

function expressionOf(steps: readonly Step[], prefix: string): string {
  const expression = steps.reduce((text, step) => {
    if ('item' in step) return `${text}[${step.item === '' ? '*' : step.item}]`;
    return text === '' ? quoted(step.name) : `${text}.${quoted(step.name)}`;
  }, prefix);
  return expression === '' ? '@' : expression;
}

function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
