import type { Scope } from '@quartermaster/contract';

/** One operation of an address, as its OpenAPI document describes it. */
export interface DocumentedOperation {
  /** `files` or `plugins`, and the id of the operation. */
  readonly name: string;
  readonly method: string;
  /** With `{names}` of parameters. */
  readonly path: string;
  /** The scope that a key needs; undefined when no key has one that it needs. */
  readonly scope: Scope | undefined;
  readonly takesKeys: boolean;
  readonly isPublic: boolean;
}

type Security = ReadonlyArray<Readonly<Record<string, readonly Scope[]>>>;

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly security?: Security }>>>
  >;
  readonly security: Security;
}

/** Reads the operations of an address from its OpenAPI document. */
export async function listOperations(address: 'files' | 'plugins', url: string): Promise<DocumentedOperation[]> {
  const { paths, security: ofAll } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security = ofAll }]) => ({
      name: `${address} ${operationId}`,
      method: method.toUpperCase(),
      path,
      scope: security.flatMap(({ apiKey = [] }) => apiKey)[0],
      takesKeys: security.some(({ apiKey }) => apiKey !== undefined),
      isPublic: security.length === 0,
    })),
  );
}
