import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isBundled, sourceEntry } from './bundle-service.ts';

const ownRoot = join(import.meta.dirname, '..');
const bundledEntry = 'packages/server/dist/main.mjs';
let isCurrent: boolean | undefined;

export interface StartCommand {
  readonly environment: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

/**
 * Returns the command of `npm start`, so that tests and benches start the service like users do, without npm in
 * between. While the bundle is not that of the sources, the command runs the sources.
 * @param root a checkout
 */
export function startCommand(root = ownRoot): StartCommand {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const words = scripts.start.split(' ');
  // The set-up, which is in front of it, also starts with this word.
  const node = words.lastIndexOf('node');
  return {
    environment: Object.fromEntries(
      words
        .slice(0, node)
        .filter((word) => word.includes('='))
        .map((word) => word.split('=', 2) as [string, string]), // each is NAME=value
    ),
    args: words.slice(node + 1).map((word) => (word === bundledEntry && !isCurrentOf(root) ? sourceEntry : word)),
  };
}

/** Other checkouts are built by their own set-up. */
function isCurrentOf(root: string): boolean {
  if (root !== ownRoot) return true;
  isCurrent ??= isBundled();
  return isCurrent;
}
