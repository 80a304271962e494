import { hash } from 'node:crypto';

/** Which manifests were found right before, and what they say. Nothing that is wrong is ever known. */
export interface KnownManifests {
  /** What the manifest says, as an object of the caller's own; undefined: it must be checked. */
  find(key: string): unknown;
  /** To be called for a manifest that every check has passed. */
  remember(key: string, manifest: unknown): void;
}

export const nothingKnown: KnownManifests = { find: () => undefined, remember: () => undefined };

/**
 * Names one manifest to be checked: its bytes, and what else its checks depend on (what it is, the name of its file,
 * the manifest of its bundle). A byte that has changed is another key.
 */
export function keyOf(dependsOn: readonly string[], content: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${JSON.stringify(dependsOn)}\n`), content]), 'base64url');
}
