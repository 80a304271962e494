import type { ConsentDecision, ConsentRequest, OauthScope } from '@quartermaster/contract';

/** What a person has chosen so far. */
export interface Choice {
  readonly scopes: readonly OauthScope[];
  /** Names by id; null: every collection. */
  readonly collections: ReadonlyMap<string, string> | null;
  readonly tools: readonly string[] | null;
}

export type Area = 'collections' | 'files' | 'plugins';

/** The areas for which the application asks for something. */
export function areas({ scopes }: ConsentRequest): Area[] {
  return (['collections', 'plugins', 'files'] as const).filter((area) =>
    scopes.some((scope) => scope.startsWith(area)),
  );
}

/**
 * The permissions that can be given in an area: what was asked for, and less.
 * @param mayChange false for a person who only reads in the project
 */
export function forms({ scopes }: ConsentRequest, area: Area, mayChange: boolean): OauthScope[] {
  return scopes.includes(area) && mayChange ? [area, `${area}:read`] : [`${area}:read`];
}

/** The URL of the server names the collection, and reaches no other. */
export function isOfOneCollection({ resource }: ConsentRequest): boolean {
  return resource.includes('/mcp/collections/');
}

/** Each area begins with reading; the person widens it. A server of one collection or bundle begins with that one. */
export function firstChoice(request: ConsentRequest): Choice {
  const scopes = areas(request).map((area) => `${area}:read` as const);
  const [, collection] = /\/mcp\/collections\/([a-z0-9]+)$/.exec(request.resource) ?? [];
  const [, bundle] = /\/mcp\/([a-z][a-z0-9_]*)$/.exec(request.resource) ?? [];
  return {
    scopes,
    collections: collection === undefined ? null : new Map([[collection, collection]]),
    tools: bundle === undefined ? null : [bundle],
  };
}

/** Returns the decision that allows a choice; null for one that allows nothing. */
export function decisionOf(
  { scopes, collections, tools }: Choice,
  projectId: string,
): Extract<ConsentDecision, { decision: 'allow' }> | null {
  const isEmpty = (area: Area, count: number | undefined) =>
    scopes.some((scope) => scope.startsWith(area)) && count === 0;
  if (scopes.length === 0 || isEmpty('collections', collections?.size) || isEmpty('plugins', tools?.length))
    return null;
  return {
    decision: 'allow',
    project_id: projectId,
    scopes: [...scopes],
    collections: collections === null ? null : [...collections.keys()],
    tools: tools === null ? null : [...tools],
  };
}
