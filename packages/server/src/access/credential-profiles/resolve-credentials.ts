type Named = Record<string, unknown>;

/**
 * Resolves the credentials of a request before a run: `{"$profile": "name"}` becomes the credentials of that profile.
 * Other credentials are returned unchanged and synchronously.
 * @param projectId the project of the key; `-` without one
 * @throws Problem when there is no encryption key, no such profile, or the profile belongs to another bundle
 */
export type ResolveCredentials = (projectId: string, bundleId: string, credentials: Named) => Named | Promise<Named>;

/** Returns the same request with credentials instead of a profile's name. */
export async function resolveRequest<Request extends { readonly bundle_id: string; readonly credentials: Named }>(
  resolve: ResolveCredentials,
  projectId: string,
  request: Request,
): Promise<Request> {
  const credentials = await resolve(projectId, request.bundle_id, request.credentials);
  return credentials === request.credentials ? request : { ...request, credentials };
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

const stored = new WeakMap<object, StoredRefreshToken>();

/** Links credentials of a profile to their stored token. Credentials in a request have no such link. */
export function rememberStored(credentials: Named, token: StoredRefreshToken): Named {
  stored.set(credentials, token);
  return credentials;
}

export function storedRefreshTokenOf(credentials: Readonly<Named>): StoredRefreshToken | undefined {
  return stored.get(credentials);
}
