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
