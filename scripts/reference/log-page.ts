import { globSync, readFileSync } from 'node:fs';

interface LogEvent {
  readonly level: string;
  readonly message: string;
  readonly event: string;
  readonly module: string;
}

const root = 'packages/server/src';
/** A call of the logger up to its last argument. */
const call = /\b(?:logger|log|refusals)\??\.(info|warn|error|fatal)\(([\s\S]{1,400}?)\);/g;
const literal = /'((?:[^'\\]|\\.)*)'|"([^"]*)"|`([^`]*)`/g;

/** `docs/reference/log.md`: every line that the service writes into its log, read from the calls of the logger. */
export function describeLog(): string {
  const rows = readEvents().map(
    ({ level, message, event, module }) => `| ${message} | ${level} |${event} | \`${module}\` |`,
  );
  return `# Lines of the log

Generated from the code by \`npm run reference\`. The log is JSON lines on standard error. \`msg\` is one of these messages; \`…\` stands for
a part that changes. Fields hold ids, counts and names; keys, passwords, tokens, credentials, bodies and queries of requests are never
logged. [The guide](../guides/operating.md#the-log) explains the lines about requests and access.

| message | level | \`event\` | module |
|---|---|---|---|
${rows.join('\n')}
`;
}

function readEvents(): LogEvent[] {
  const found = new Map<string, LogEvent>();
  for (const path of globSync(`${root}/**/*.ts`).sort()) {
    if (/\.(test|suite)\.ts$/.test(path)) continue;
    const [module = ''] = path.slice(root.length + 1).split('/');
    for (const [, level = '', args = ''] of readFileSync(path, 'utf8').matchAll(call)) {
      const texts = [...args.matchAll(literal)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
      const message = texts
        .at(-1)
        ?.replace(/\$\{[^}]*\}/g, '…')
        .replaceAll('|', '\\|');
      if (message === undefined || !/\s|^[a-z]+$/.test(message)) continue;
      const code = texts.slice(0, -1).find((text) => /^[a-z]+(_[a-z]+)+$/.test(text));
      const event = code === undefined ? '' : ` \`${code}\``;
      const name = module.replace(/\.ts$/, '');
      found.set(`${message} ${level} ${event} ${name}`, { level, message, event, module: name });
    }
  }
  return [...found.values()].sort((a, b) => (a.message < b.message ? -1 : 1));
}
