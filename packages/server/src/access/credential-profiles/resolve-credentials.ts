import type { Permissions } from '../../platform/permissions.ts';

type Named = Record<string, unknown>;

/**
 * Resolves the credentials of a request before a run: `{"$profile": "name"}` becomes the credentials of that profile.
 * Other credentials are returned unchanged and synchronously.
 * @throws Problem when there is no encryption key, no such profile, or the profile belongs to another bundle
 */
export type ResolveCredentials = (
  user: ProfileUser,
  bundleId: string,
  credentials: Named,
) => ResolvedCredentials | Promise<ResolvedCredentials>;

/** Who uses profiles of a project. */
export interface ProjectProfiles {
  readonly projectId: string;
  /** Absent for a run that was accepted earlier. */
  readonly permissions?: Permissions | undefined;
}

export interface ProfileUser extends Omit<ProjectProfiles, 'projectId'> {
  /** The project of the key; null without one. */
  readonly projectId: string | null;
}

export interface ResolvedCredentials {
  readonly credentials: Named;
  /** Set when the credentials come from a profile. */
  readonly refreshToken?: StoredRefreshToken | undefined;
  /** Set for the access token of a connection. */
  readonly renew?: RenewCredentials | undefined;
}

/**
 * Replaces an access token that the third party refused before its life was over. It never rejects.
 * @returns null when there is no other one
 */
export type RenewCredentials = (refused: string) => Promise<Named | null>;

/** Returns the same request with credentials instead of a profile's name. A member `refreshToken` of the client is dropped. */
export async function resolveRequest<Request extends { readonly bundle_id: string; readonly credentials: Named }>(
  resolve: ResolveCredentials,
  user: ProfileUser,
  request: Request,
): Promise<Request & ResolvedCredentials> {
  const { credentials, refreshToken, renew } = await resolve(user, request.bundle_id, request.credentials);
  return { ...request, credentials, refreshToken, renew };
}

/**
 * The refresh token of stored credentials. Providers that rotate refresh tokens accept each token once. Only one
 * process may therefore use it at a time, and the new token must be stored before any other step.
 */
export interface StoredRefreshToken {
  /** Changes when the project replaces the credentials. */
  readonly version: string;
  /** Replaced refresh tokens. They are never sent again, and are redacted from responses. */
  readonly superseded: readonly string[];
  /**
   * Calls `ask` with the newest value of the credential `name` while no other process does. It stores the new value,
   * encrypted, before it resolves.
   * @throws Error when the claim is not free in time or the new value cannot be stored
   */
  refresh<Answer extends { readonly rotated: string | undefined }>(
    name: string,
    ask: (newest: string) => Promise<Answer>,
  ): Promise<Answer>;
}
