import { type LoadedPiece, membersOf } from './load-piece.ts';
import {
  authKinds,
  type OutputField,
  type PieceAction,
  type PieceAuth,
  type PieceDescription,
  type PieceProperty,
} from './piece-task.ts';

/** Reads what a piece declares into JSON. It cuts long texts; the service checks everything again. */

const deepest = 4;

export function describePiece({ piece, actions }: LoadedPiece): PieceDescription {
  const auth = authOf(piece, actions.values()).flatMap(describeAuth);
  if (actions.size === 0) throw new Error('The piece has no actions. Quartermaster does not run its triggers.');
  return {
    displayName: textOf(piece.displayName, 200),
    description: textOf(piece.description),
    logoUrl: textOf(piece.logoUrl),
    categories: listOf(piece.categories).map((one) => textOf(one, 100)),
    auth,
    actions: [...actions.values()].map((action) => describeAction(action)),
  };
}

/** The authentication of the piece, or the distinct properties of its actions that hold one: early frameworks had only these. */
function authOf(piece: object, actions: Iterable<object>): readonly unknown[] {
  const { auth } = membersOf(piece);
  if (auth !== undefined && auth !== null) return [auth].flat();
  const found = new Map<unknown, unknown>();
  for (const action of actions) {
    for (const property of Object.values(Object(membersOf(action).props))) {
      if (isAuth(property)) found.set(membersOf(property).type, property);
    }
  }
  return [...found.values()];
}

export function isAuth(property: unknown): boolean {
  return (authKinds as readonly unknown[]).includes(membersOf(property).type);
}

function describeAuth(auth: unknown, _index: number, all: readonly unknown[]): PieceAuth[] {
  const { type, props, username, password, ...rest } = membersOf(auth);
  const kind = authKinds.find((one) => one === type);
  if (type === 'NO_AUTH' || (kind === undefined && all.some(isAuth))) return [];
  if (kind === undefined) throw new Error(`The piece has authentication of the unknown type ${textOf(type, 60)}.`);
  const basic = kind === 'BASIC_AUTH' ? { username, password } : {};
  const named = Object.entries(basic).map(([name, one]) =>
    describeProperty(name, { type: 'SHORT_TEXT', ...Object(one) }),
  );
  return [
    {
      kind,
      displayName: textOf(rest.displayName, 200),
      description: textOf(rest.description),
      props: [...named, ...describeProperties(props)],
      authUrl: textOf(rest.authUrl),
      tokenUrl: textOf(rest.tokenUrl),
      scope: listOf(rest.scope).map((one) => textOf(one, 200)),
      pkce: rest.pkce === true,
      prompt: textOf(rest.prompt, 40),
      authorizationMethod: textOf(rest.authorizationMethod, 40),
    },
  ];
}

function describeAction(action: Readonly<Record<string, unknown>>): PieceAction {
  const ai = membersOf(action.aiMetadata);
  const props = Object.entries(Object(action.props)).filter(([, property]) => !isAuth(property));
  return {
    name: textOf(action.name, 200),
    displayName: textOf(action.displayName, 200),
    description: textOf(ai.description) || textOf(action.description),
    requireAuth: action.requireAuth !== false,
    classification: textOf(action.classification, 40).toUpperCase(),
    idempotent: ai.idempotent === true,
    props: describeProperties(Object.fromEntries(props)),
    output: describeOutput(membersOf(action.outputSchema).fields),
  };
}

/** @param props by name; a list in some forms of the framework */
export function describeProperties(props: unknown, depth = 0): PieceProperty[] {
  if (depth > deepest) throw new Error(`The properties of an action are nested deeper than ${deepest} levels.`);
  return Object.entries(Object(props)).map(([name, property]) => describeProperty(name, property, depth));
}

function describeProperty(name: string, property: unknown, depth = 0): PieceProperty {
  const { type, displayName, description, required, defaultValue, options, refreshers, properties } =
    membersOf(property);
  const fixed = typeof options === 'function' ? undefined : membersOf(options).options;
  const value = jsonOf(defaultValue);
  return {
    name,
    type: textOf(type, 60),
    displayName: textOf(displayName, 200),
    description: textOf(description),
    required: required === true,
    ...(value === undefined ? {} : { defaultValue: value }),
    ...(Array.isArray(fixed) ? { options: describeOptions(fixed) } : {}),
    ...(Array.isArray(refreshers) ? { refreshers: refreshers.map((one) => textOf(one, 200)) } : {}),
    ...(properties === undefined ? {} : { properties: describeProperties(properties, depth + 1) }),
  };
}

export function describeOptions(options: readonly unknown[]): Array<{ label: string; value: unknown }> {
  return options
    .map(membersOf)
    .map(({ label, value }) => ({ label: textOf(label, 200), value: jsonOf(value) ?? null }));
}

function describeOutput(fields: unknown, depth = 0): OutputField[] {
  if (depth > deepest) return [];
  return listOf(fields)
    .map(membersOf)
    .map(({ key, label, description, format, dynamicKey, children, listItems }) => ({
      key: textOf(key, 200),
      description: textOf(description) || textOf(label, 200),
      format: textOf(format, 40),
      isMap: dynamicKey === true,
      children: describeOutput(children, depth + 1),
      items: Array.isArray(listItems) ? describeOutput(listItems, depth + 1) : null,
    }));
}

export function textOf(value: unknown, most = 2_000): string {
  return typeof value === 'string' ? value.slice(0, most).trim() : '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A copy of a small value as JSON; undefined for a large one and for what is not JSON. */
function jsonOf(value: unknown): unknown {
  const text: string | undefined = JSON.stringify(value);
  return text === undefined || text.length > 4_000 ? undefined : JSON.parse(text);
}
