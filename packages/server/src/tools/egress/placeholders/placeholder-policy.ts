import type { Secret } from '../../../platform/secret.ts';
import type { PlaceholderFinder } from './placeholders.ts';
import type { CredentialPlace } from './request-parts.ts';

/** What the placeholders of one run stand for, and where they are replaced. */
export interface PlaceholderPolicy {
  /** For the commands in messages. */
  readonly bundleId: string;
  /** The secrets by their placeholders. */
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly finder: PlaceholderFinder;
  /** The hosts (`name` or `name:port`) that may get a secret. */
  readonly hosts: ReadonlySet<string>;
  readonly places: readonly CredentialPlace[];
  /** Called before a request with a secret is sent. */
  readonly onPlaced: () => void;
}
