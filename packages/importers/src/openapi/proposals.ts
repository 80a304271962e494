import type { Injection } from '@quartermaster/plugin-kit';
import { isJson, type Json, memberOf } from './document.ts';

interface Candidate {
  readonly request: Json;
  readonly effects: string;
  readonly input_schema: Json;
  readonly output_schema: Json;
  /** The injections that the bundle does not have. */
  readonly inject?: readonly Injection[];
}

/** The last segments of paths that describe the account of a credential. The first ones tell most. */
const accountPaths = [
  /\/(?:me|whoami|self|user\/current|current_user|authenticated)$/i,
  /\/(?:user|account|profile|myself|viewer|about|token\/info|auth[./]test|getme)$/i,
  /\/(?:accounts|users|workspaces|organizations|projects)$/i,
];

/**
 * Proposes the call that checks the credentials: the GET without required inputs whose path names the account. The call sends no inputs.
 * Undefined when no operation looks like one.
 */
export function verificationOf(plugins: Iterable<Candidate>): { readonly request: Json } | undefined {
  const candidates = [...plugins].filter(({ request, effects, input_schema: { required } }) => {
    const isFree = !Array.isArray(required) || required.length === 0;
    return effects === 'read' && request.method === 'GET' && isFree && !String(request.url).includes('{');
  });
  for (const pattern of accountPaths) {
    const found = candidates
      .filter(({ request }) => pattern.test(new URL(String(request.url)).pathname))
      .sort((a, b) => String(a.request.url).length - String(b.request.url).length)[0];
    if (found === undefined) continue;
    const { request, inject = [] } = found;
    const constants = (['query', 'headers'] as const).flatMap((section) => {
      const members = Object.entries(Object(request[section])).filter(([, value]) => !String(value).includes('{'));
      return members.length === 0 ? [] : [[section, Object.fromEntries(members)] as const];
    });
    // Credentials never travel unencrypted.
    const url = String(request.url).replace(/^http:/, 'https:');
    const own = inject.length === 0 ? {} : { inject };
    return { request: { method: 'GET', url, ...Object.fromEntries(constants), ...own } };
  }
  return undefined;
}

/** Inputs that choose a page, with the members of answers that give their next value. */
const cursors: ReadonlyArray<readonly [RegExp, RegExp]> = [
  [/^(?:page_?token|next_?page_?token)$/i, /^next_?page_?token$/i],
  [/cursor$|^(?:starting_)?after$/i, /^(?:next_?cursor|cursor|next|after|end_?cursor)$/i],
  [/^offset$/i, /^(?:next_?offset|offset|total(?:_?count|_?results)?|count)$/i],
  [/^page(?:_?number)?$/i, /^(?:next_?page|page(?:_?number)?|total(?:_?pages|_?count)?|has_?(?:more|next))$/i],
];

/** Describes how the next page is asked for, where the document shows it; undefined where it does not. */
export function pagingOf({
  effects,
  input_schema: input,
  output_schema: output,
}: Omit<Candidate, 'request'>): string | undefined {
  if (effects !== 'read') return undefined;
  const inputs = Object.keys(Object(input.properties));
  const members = membersOf(output, output, '', 2);
  for (const [given, found] of cursors) {
    const name = inputs.find((one) => given.test(one));
    const member = members.find((path) => found.test(path.split('.').at(-1) ?? ''));
    if (name === undefined || member === undefined) continue;
    const isCursor = /cursor|token|after/i.test(name);
    if (isCursor) return `Next page: send "${member}" of the answer as "${name}".`;
    return `Next page: raise "${name}", and compare it with "${member}" of the answer.`;
  }
  return undefined;
}

/** The paths of the members of an answer, down to a depth. */
function membersOf(schema: unknown, root: Json, prefix: string, depth: number): string[] {
  const name = String(memberOf(schema, '$ref') ?? '').slice('#/$defs/'.length);
  const found = name === '' ? schema : memberOf(root.$defs, name);
  const properties = memberOf(found, 'properties');
  if (!isJson(properties) || depth === 0) return [];
  const own = Object.keys(properties).map((member) => `${prefix}${member}`);
  return [
    ...own,
    ...Object.entries(properties).flatMap(([member, child]) =>
      membersOf(child, root, `${prefix}${member}.`, depth - 1),
    ),
  ];
}
