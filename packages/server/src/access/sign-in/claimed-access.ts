import { type Role, roles } from '@quartermaster/contract';
import type { Claims as AccountClaims, Identity } from '../accounts/account-repository.ts';
import type { Project } from '../projects/project-repository.ts';
import type { Claims } from './identity-provider.ts';
import { tooManyGroups } from './problems.ts';

/** Gives the persons with a value of the claim a role: in a project by id or name, in all projects (`*`), or of the service. */
export type RoleRule = { readonly value: string } & (
  | { readonly project: string; readonly role: Role }
  | { readonly project: null }
);

/** Reads `value=project:role` or `value=administrator`; null for another text. */
export function readRoleRule(text: string): RoleRule | null {
  const equals = text.lastIndexOf('=');
  const [value, target] = [text.slice(0, Math.max(0, equals)), text.slice(equals + 1)];
  if (value === '') return null;
  if (target === 'administrator') return { value, project: null };
  const colon = target.lastIndexOf(':');
  const role = roles.find((each) => each === target.slice(colon + 1));
  return colon < 1 || role === undefined ? null : { value, project: target.slice(0, colon), role };
}

export interface AccessRules {
  readonly allowedDomains: readonly string[];
  readonly rolesClaim: string | null;
  readonly rules: readonly RoleRule[];
  readonly projects: readonly Project[];
}

/** Who signs in, what the claim gives them, and whether a new account may be created for them. */
export interface ClaimedAccess {
  readonly identity: Identity;
  readonly claims: AccountClaims;
  readonly mayCreate: boolean;
}

/** @throws Problem PERMISSION_DENIED when the provider left out the claim with the roles */
export function readAccess(
  claims: Claims,
  { allowedDomains, rolesClaim, rules, projects }: AccessRules,
): ClaimedAccess {
  const given = rolesClaim === null ? [] : [claims[rolesClaim] ?? []].flat();
  const isLeftOut = rolesClaim !== null && Object.hasOwn(Object(claims._claim_names), rolesClaim);
  if (isLeftOut && given.length === 0) throw tooManyGroups(rolesClaim);
  const matching = rules.filter(({ value }) => given.includes(value));
  const found = new Map<string, Role>();
  for (const { id, name } of projects) {
    const names = ['*', id, name];
    const own = matching.flatMap((rule) => (rule.project !== null && names.includes(rule.project) ? [rule.role] : []));
    // The first role of the list has the most rights.
    const strongest = roles.find((role) => own.includes(role));
    if (strongest !== undefined) found.set(id, strongest);
  }
  const isAdministrator = matching.some((rule) => rule.project === null);
  const email = verifiedEmail(claims);
  return {
    identity: { issuer: claims.iss, subject: claims.sub, name: nameOf(claims, email), email },
    // Also without a rule, so that a rule that was removed gives nothing any more.
    claims: { isAdministrator, roles: found },
    mayCreate: isAdministrator || found.size > 0 || isAllowed(claims, email, allowedDomains),
  };
}

/** RFC 5321: 64 characters, an @ and 255 characters. A cut address would be another one. */
const longestAddress = 320;

/** An address that the provider has not verified may belong to another person. */
function verifiedEmail({ email, email_verified }: Claims): string | null {
  return typeof email === 'string' && email_verified === true && email.length <= longestAddress ? email : null;
}

/** Google verifies addresses of other providers too, and names the organisation of an account in `hd`. */
function isAllowed({ iss, hd }: Claims, email: string | null, allowed: readonly string[]): boolean {
  // In an address with two @ signs, readers disagree about the domain.
  const [, domain, ...more] = email?.toLowerCase().split('@') ?? [];
  if (domain === undefined || more.length > 0) return false;
  if (iss === 'https://accounts.google.com' && hd !== domain) return false;
  return allowed.some((each) => each.toLowerCase() === domain);
}

function nameOf({ name, preferred_username, sub }: Claims, email: string | null): string {
  const first = [name, preferred_username, email].find((text) => typeof text === 'string' && text.trim() !== '');
  return String(first ?? sub);
}
