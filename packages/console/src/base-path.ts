/** The server writes the base path into the page. The development server of Vite has none and leaves the name in its place. */
const written = globalThis.document?.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? '';

/** The path below which a proxy serves this address, such as `/quartermaster`; empty when there is none. */
export const basePath = written.startsWith('/') ? written : '';

/** The name of a value in the storage of the origin, which services below different paths share. */
export function storageKey(name: string): string {
  return `quartermaster-${name}${basePath}`;
}

/** The URL of the files address, for examples. */
export function filesUrl(): string {
  return window.location.origin + basePath;
}
