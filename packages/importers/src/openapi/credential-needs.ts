/** Lists of credential names, of which a caller needs all names of one. An empty list needs none. */
export type CredentialNeeds = ReadonlyArray<readonly string[]>;

/** More alternatives tell a person nothing. */
const mostAlternatives = 10;

const keyOf = (names: readonly string[]) => [...names].sort().join();

/** Leaves out alternatives that contain another one. */
export function simplestNeeds(alternatives: CredentialNeeds): CredentialNeeds {
  const sets = [...new Map(alternatives.map((names) => [keyOf(names), new Set(names)])).values()];
  const simplest = sets.filter((set) => !sets.some((other) => other !== set && other.isSubsetOf(set)));
  return simplest.map((set) => [...set]);
}

export function areSame(one: CredentialNeeds, other: CredentialNeeds): boolean {
  const keys = new Set(one.map(keyOf));
  return keys.size === other.length && other.every((names) => keys.has(keyOf(names)));
}

export function needsNone(needs: CredentialNeeds): boolean {
  return needs.length === 0 || needs.some((names) => names.length === 0);
}

/** What a bundle requires: the needs of its operations, unless most of them need nothing. The others state what they need. */
export function needsOfBundle(operations: readonly CredentialNeeds[]): CredentialNeeds {
  const secured = operations.filter((needs) => !needsNone(needs));
  const needs = simplestNeeds(
    [...new Set(secured.map((one) => JSON.stringify(one)))].flatMap((one) => JSON.parse(one)),
  );
  return secured.length * 2 < operations.length || needs.length > mostAlternatives ? [] : needs;
}

/** The needs that most operations have, of those that need anything. */
export function commonNeeds(operations: readonly CredentialNeeds[]): CredentialNeeds {
  const secured = operations.filter((needs) => !needsNone(needs));
  const groups = Map.groupBy(secured.length > 0 ? secured : operations, (needs) => needs.map(keyOf).sort().join('|'));
  return [...groups.values()].sort((a, b) => b.length - a.length)[0]?.[0] ?? [];
}

/** The members of the schema of credentials. */
export function requiredIn(needs: CredentialNeeds): { required?: readonly string[]; anyOf?: readonly object[] } {
  const [first = [], ...others] = needs;
  if (others.length > 0) return { anyOf: needs.map((required) => ({ required })) };
  return first.length === 0 ? {} : { required: first };
}
