import type { OutputField, PieceAction, PieceAuth, PieceProperty } from './child/piece-task.ts';
import { pieceRefused } from './problems.ts';

/** JSON Schemas for what a piece declares. */

type Schema = Record<string, unknown>;

/** The names that schemas of manifests allow for properties. */
const allowedName = /^[a-zA-Z0-9_.-]{1,64}$/;
const mostChoices = 250;
const longestText = 1_000;
/** The suffix of the member that names a file. */
const fileNameSuffix = '_filename';

/** The name of a property in the input. A name that schemas do not allow is replaced. */
export function safeName(name: string): string {
  return allowedName.test(name) ? name : name.replaceAll(/[^a-zA-Z0-9_.-]+/g, '_').slice(0, 64) || '_';
}

export function inputSchemaOf({ name, props }: PieceAction): Schema {
  return schemaOfProperties(props, name);
}

/** @param action for errors */
export function schemaOfProperties(properties: readonly PieceProperty[], action = ''): Schema {
  const inputs = properties.filter(({ type }) => type !== 'MARKDOWN');
  return objectOf(inputs, (property) => schemaOf(property, action));
}

function objectOf(inputs: readonly PieceProperty[], convert: (property: PieceProperty) => Schema): Schema {
  const members = inputs.map((property) => [safeName(property.name), convert(property)] as const);
  const schemas = new Map(members);
  const fileNames = inputs
    .filter(({ type, name }) => type === 'FILE' && allowedName.test(name + fileNameSuffix))
    .map(({ name, displayName }) => [
      name + fileNameSuffix,
      { type: 'string', description: `The name of the file in ${displayName || name}, with its extension.` },
    ]);
  const isRequired = ({ name, required }: PieceProperty) =>
    required && schemas.get(safeName(name))?.default === undefined;
  const required = inputs.filter(isRequired).map(({ name }) => safeName(name));
  return {
    type: 'object',
    properties: { ...Object.fromEntries(fileNames), ...Object.fromEntries(members) },
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
    additionalProperties: false,
  };
}

/** A value that only the piece knows. The formats of providers want types. */
const open: Schema = { type: ['string', 'number', 'boolean', 'object'] };
const typesOfText = new Set(['SHORT_TEXT', 'LONG_TEXT', 'COLOR', 'SECRET_TEXT']);

function schemaOf(property: PieceProperty, action: string): Schema {
  const { type, defaultValue, options = [] } = property;
  const described = (schema: Schema, note = ''): Schema => ({
    ...schema,
    ...titleOf(property),
    description: note === '' ? textOf(property) : `${sentence(textOf(property))} ${note}`,
    ...(hasType(defaultValue, schema) ? { default: defaultValue } : {}),
  });
  if (typesOfText.has(type)) return described({ type: 'string' });
  switch (type) {
    case 'NUMBER':
      return described({ type: 'number' });
    case 'CHECKBOX':
      return described({ type: 'boolean' });
    case 'DATE_TIME':
      return described({ type: 'string', format: 'date-time' });
    case 'FILE':
      return described({ type: 'string', contentEncoding: 'base64' });
    case 'OBJECT':
      return described({ type: 'object' });
    case 'JSON':
      return described({ type: ['object', 'array'], items: open });
    case 'CUSTOM':
      return described(open);
    case 'ARRAY':
      return described({ type: 'array', items: itemsOf(property, action) });
    case 'STATIC_DROPDOWN':
      return described(choiceOf(options), labelsOf(options));
    case 'STATIC_MULTI_SELECT_DROPDOWN':
      return described({ type: 'array', items: choiceOf(options) }, labelsOf(options));
    case 'DROPDOWN':
      return described(open, askFor('choices', property));
    case 'MULTI_SELECT_DROPDOWN':
      return described({ type: 'array', items: open }, askFor('choices', property));
    case 'DYNAMIC':
      return described({ type: 'object' }, askFor('members', property));
    default:
      throw pieceRefused(
        `${action === '' ? 'it' : `the action ${action}`} has the property ${property.name} of the unknown type ${type}`,
      );
  }
}

/** A list without declared members holds texts, unless its default shows otherwise. */
function itemsOf({ properties, defaultValue }: PieceProperty, action: string): Schema {
  if (properties !== undefined) return schemaOfProperties(properties, action);
  const holdsTexts = !Array.isArray(defaultValue) || defaultValue.every((item) => typeof item === 'string');
  return holdsTexts ? { type: 'string' } : open;
}

function choiceOf(options: NonNullable<PieceProperty['options']>): Schema {
  const values = options.map(({ value }) => value).filter((value) => value !== null && value !== '');
  const distinct = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
  const types = new Set(distinct.map((value) => typeof value));
  const [type = 'object'] = types;
  const isSimple = types.size === 1 && type !== 'object';
  if (distinct.length === 0 || distinct.length > mostChoices) return isSimple ? { type } : open;
  return isSimple ? { type, enum: distinct } : { enum: distinct };
}

/** Tells what values mean whose label differs. */
function labelsOf(options: NonNullable<PieceProperty['options']>): string {
  const labelled = options.filter(
    ({ label, value }) => label !== '' && label.toLowerCase() !== String(value).toLowerCase(),
  );
  if (labelled.length === 0 || labelled.length > 40) return '';
  return `Choices: ${labelled.map(({ label, value }) => `${JSON.stringify(value)} (${label})`).join(', ')}.`;
}

function askFor(what: 'choices' | 'members', { refreshers = [] }: PieceProperty): string {
  const others = refreshers.filter((name) => name !== 'auth' && name !== 'authentication');
  const depend = others.length === 0 ? '' : ` They depend on ${others.join(', ')}.`;
  return `The third party knows the ${what}: use an id that another tool returned, not a name, or ask the user. POST /v1/plugins/…/options lists them.${depend}`;
}

function hasType(value: unknown, { type, enum: choices, format }: Schema): boolean {
  if (!isFilled(value) || format !== undefined) return false;
  if (Array.isArray(choices)) return choices.includes(value);
  const found = Array.isArray(value) ? 'array' : typeof value;
  return type === undefined ? false : [type].flat().includes(found);
}

/** Whether a default is a value. Lists and objects start empty in the forms of pieces. */
export function isFilled(defaultValue: unknown): boolean {
  if (defaultValue === undefined || defaultValue === null || defaultValue === '') return false;
  return typeof defaultValue !== 'object' || Object.keys(defaultValue).length > 0;
}

function textOf({
  description,
  displayName,
  name,
}: Pick<PieceProperty, 'description' | 'displayName' | 'name'>): string {
  return (description || displayName || name).slice(0, longestText);
}

function sentence(text: string): string {
  return '.!?:'.includes(text.slice(-1)) ? text : `${text}.`;
}

/** The label of an input, where it tells more than its name and is not its description. */
function titleOf({ name, displayName, description }: PieceProperty): Schema {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return description === '' || plain(displayName) === plain(name) || plain(displayName) === ''
    ? {}
    : { title: displayName };
}

/** Describes the members and requires none: vendors change answers, and nobody checks these. */
export function outputSchemaOf({ output }: PieceAction): Schema {
  const properties = membersOf(output);
  return { type: 'object', ...(Object.keys(properties).length === 0 ? {} : { properties }) };
}

function membersOf(fields: readonly OutputField[]): Schema {
  const named = fields.filter(({ key }) => allowedName.test(key));
  return Object.fromEntries(
    named.map(({ key, description, children, items, isMap }) => {
      const inner = isMap ? {} : { properties: membersOf(children) };
      const members = children.length === 0 || isMap ? {} : inner;
      const list = items === null || items.length === 0 ? {} : { items: { properties: membersOf(items) } };
      return [key, { description: description.slice(0, longestText) || key, ...members, ...list }];
    }),
  );
}

/** How one kind of credentials becomes the authentication of a piece. */
export interface AuthForm {
  readonly kind: PieceAuth['kind'];
  /** The types that the piece expects, by the names of the credentials. */
  readonly fields: Record<string, 'text' | 'number' | 'boolean' | 'json'>;
}

const fieldTypes: Readonly<Record<string, AuthForm['fields'][string]>> = {
  NUMBER: 'number',
  CHECKBOX: 'boolean',
  STATIC_MULTI_SELECT_DROPDOWN: 'json',
};
/** Names of secrets that pieces declare as ordinary texts. */
const secretName = /token|secret|passw|api_?-?key|private/i;

/** The schema of the credentials, and how they reach the piece. Undefined when the piece needs none. */
export function credentialsOf(auth: readonly PieceAuth[]): { schema: Schema; forms: readonly AuthForm[] } | undefined {
  if (auth.length === 0) return undefined;
  const alternatives = auth.map((one) => ({ kind: one.kind, members: membersOfAuth(one) }));
  // A name that is a secret in one alternative is one in all.
  const members = alternatives.flatMap((one) => one.members);
  const secrets = members.filter(({ schema }) => 'x-secret' in schema);
  const properties = Object.fromEntries([...members, ...secrets].map(({ name, schema }) => [name, schema]));
  const required = alternatives.map(({ members }) => members.filter((one) => one.required).map(({ name }) => name));
  const [first = [], ...others] = required;
  const forms = alternatives.map(({ kind, members }) => ({
    kind,
    fields: Object.fromEntries(members.map(({ name, type }) => [name, type])),
  }));
  const needed = others.length === 0 ? { required: first } : { anyOf: required.map((names) => ({ required: names })) };
  return { schema: { type: 'object', properties, ...needed, additionalProperties: false }, forms };
}

function membersOfAuth({ kind, displayName, description, scope, props }: PieceAuth) {
  const secret = (name: string, text: string) => ({
    name,
    type: 'text' as const,
    required: true,
    schema: { type: 'string', description: text.slice(0, longestText), 'x-secret': true },
  });
  const about = description || displayName;
  const fields = props.filter(({ type }) => type !== 'MARKDOWN').map(fieldOf);
  if (kind === 'SECRET_TEXT') return [secret('token', about || 'The secret of the account.')];
  if (kind === 'CUSTOM_AUTH') return fields;
  if (kind === 'BASIC_AUTH') {
    const text = (name: string) => props.find((one) => one.name === name)?.displayName || name;
    return [secret('username', text('username')), secret('password', text('password'))];
  }
  const scopes = scope.length === 0 ? '' : ` Scopes: ${scope.join(' ')}.`;
  return [secret('access_token', `An OAuth access token.${scopes}`), ...fields];
}

function fieldOf(property: PieceProperty) {
  const { name, type, options = [] } = property;
  if (!allowedName.test(name)) throw pieceRefused(`its credentials have a field with the name ${JSON.stringify(name)}`);
  const isSecret = type === 'SECRET_TEXT' || (type === 'SHORT_TEXT' && secretName.test(name));
  const choices = options.length === 0 ? '' : ` One of: ${options.map(({ value }) => String(value)).join(', ')}.`;
  const description = `${textOf(property)}${choices}`.slice(0, longestText);
  return {
    name,
    type: fieldTypes[type] ?? ('text' as const),
    required: property.required,
    schema: { type: 'string', description, ...(isSecret ? { 'x-secret': true } : {}) },
  };
}
