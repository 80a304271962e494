import { type Role, type Scope, withIncluded } from '@quartermaster/contract';
import { type AddressName, either, type Need } from './authorisation-table.ts';

/** Who sends a request. */
export interface Subject {
  /** `refused` has a credential that is not accepted. */
  readonly kind: 'nobody' | 'refused' | 'key' | 'session' | 'token';
  /** The scopes of a key, and those that a person left to an application. */
  readonly scopes?: readonly Scope[];
  /** The role of the person, also of the one who allowed an application. */
  readonly role?: Role | 'service administrator' | 'none';
}

const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ['files:read', 'collections:read', 'plugins:read'],
  member: ['files', 'collections', 'plugins', 'connections'],
  administrator: ['files', 'collections', 'plugins', 'connections', 'metrics', 'admin'],
};

/** Returns the scopes with which somebody acts. An application never does more than its person. */
export function scopesOf({ kind, scopes, role }: Subject): ReadonlySet<Scope> {
  const ofRole =
    role === undefined || role === 'none'
      ? []
      : scopesOfRole[role === 'service administrator' ? 'administrator' : role];
  if (kind === 'session') return withIncluded(ofRole);
  const held = withIncluded(scopes ?? []);
  return kind === 'token' ? held.intersection(withIncluded(ofRole)) : held;
}

/** `hidden`: 404, as if the project did not exist. */
export type Outcome = 'accepted' | 'unknown caller' | 'refused' | 'hidden';

/** Decides from the table what happens to a request. */
export function outcomeOf(
  need: Need,
  subject: Subject,
  on: { readonly address: AddressName; readonly path: string },
): Outcome {
  const { kind, role } = subject;
  if (need === 'nothing') return 'accepted';
  if (kind === 'nobody' || kind === 'refused') return 'unknown caller';
  const isMcp = on.path.startsWith('/mcp');
  if (kind === 'token' && !isMcp) return 'unknown caller';
  if (kind === 'session') {
    if (on.address === 'plugins' || isMcp || need === 'any key') return 'unknown caller';
    if (need === 'any person' || need === 'own projects') return 'accepted';
    if (need === 'service administrator') return role === need ? 'accepted' : role === 'none' ? 'hidden' : 'refused';
    if (role === 'none') return 'hidden';
  }
  if (need === 'any person') return 'unknown caller';
  if (need === 'any key') return 'accepted';
  if (need === 'service administrator') return 'refused';
  const scopes = scopesOf(subject);
  const has = (scope: Scope) => scopes.has(scope);
  if (need === 'project administrator') return kind === 'session' && has('admin') ? 'accepted' : 'refused';
  const isEnough = (either[need] ?? [need as Scope]).some(has); // all other needs are handled above
  return isEnough ? 'accepted' : 'refused';
}
