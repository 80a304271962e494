type Named = Record<string, unknown>;

/**
 * Stands between a request and a run: `{"$profile": "name"}` becomes the credentials of that profile. Others are given
 * back as they are, at once.
 * @param projectId of the key that was sent; `-` without one
 * @throws Problem when there is no key, no such profile, or it is another bundle's
 */
export type ResolveCredentials = (projectId: string, bundleId: string, credentials: Named) => Named | Promise<Named>;

/** The same request, with credentials in the place of a profile's name. */
export async function resolveRequest<Request extends { readonly bundle_id: string; readonly credentials: Named }>(
  resolve: ResolveCredentials,
  projectId: string,
  request: Request,
): Promise<Request> {
  const credentials = await resolve(projectId, request.bundle_id, request.credentials);
  return credentials === request.credentials ? request : { ...request, credentials };
}

/**
 * The refresh token of stored credentials. Providers that rotate refresh tokens accept each once, so only one process may use it at
 * a time, and the new one must be stored before anything else happens.
 */
export interface StoredRefreshToken {
  /** Another text when the project has replaced the credentials. */
  readonly version: string;
  /** Replaced refresh tokens: never sent again, and redacted from answers. */
  readonly superseded: readonly string[];
  /**
   * Calls `ask` with the newest value of the credential `name`, while no other process does, and stores the new value, encrypted,
   * before it resolves.
   * @throws Error when the claim is not free in time or the new value cannot be stored
   */
  refresh<Answer extends { readonly rotated: string | undefined }>(
    name: string,
    ask: (newest: string) => Promise<Answer>,
  ): Promise<Answer>;
}

const stored = new WeakMap<object, StoredRefreshToken>();

/** Credentials that come from a profile remember where; those that a request carries have nothing that could be stored. */
export function rememberStored(credentials: Named, token: StoredRefreshToken): Named {
  stored.set(credentials, token);
  return credentials;
}

export function storedRefreshTokenOf(credentials: Readonly<Named>): StoredRefreshToken | undefined {
  return stored.get(credentials);
}
