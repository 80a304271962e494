import { readFileSync } from 'node:fs';

export interface StartCommand {
  readonly environment: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

/** What `npm start` runs, so that tests and benches start the service as people do, without npm in between. */
export function startCommand(): StartCommand {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    scripts: { start: string };
  };
  const words = scripts.start.split(' ');
  const node = words.indexOf('node');
  return {
    environment: Object.fromEntries(words.slice(0, node).map((word) => word.split('=', 2) as [string, string])), // NAME=value
    args: words.slice(node + 1),
  };
}
