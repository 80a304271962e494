import type { StartedService } from './service.ts';

/** One operation of the API as the console calls it. */
export interface ServedOperation {
  readonly method: string;
  /** Its URL, with `x` for each path parameter. */
  readonly url: string;
  /** Whether it needs neither a key nor a session. */
  readonly isPublic: boolean;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly unknown[] }>>>>;
}

/**
 * Returns every operation of both OpenAPI documents. Those of the plugins address are below `/plugins` of the files
 * address.
 */
export async function servedOperations({ filesUrl, pluginsUrl }: StartedService): Promise<ServedOperation[]> {
  const areas = [
    { from: filesUrl, base: filesUrl, mounted: '/' },
    { from: pluginsUrl, base: `${filesUrl}/plugins`, mounted: '/v1/' },
  ];
  const lists = areas.map(async ({ from, base, mounted }) => {
    const { paths } = (await (await fetch(`${from}/openapi.json`)).json()) as Document;
    const served = Object.entries(paths).filter(([path]) => path.startsWith(mounted));
    return served.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => ({
        method: method.toUpperCase(),
        url: base + path.replace(/\{[^}]+\}/g, 'x'),
        isPublic: security?.length === 0,
      })),
    );
  });
  return (await Promise.all(lists)).flat();
}
