import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Renders `docs/decisions/README.md`: the decision records by module, with their titles. */
export function describeDecisions(): string {
  const records = globSync('docs/decisions/[0-9]*.md').sort().map(readRecord);
  const modules = Map.groupBy(records, ({ module }) => module);
  return `# Decision records

Generated from the records by \`npm run reference\`; do not edit. Each title is the decision. A record whose decision no longer holds is
deleted; \`git log\` keeps it.
${[...modules].map(([module, rows]) => `\n## ${module}\n\n${rows.map(({ line }) => line).join('\n')}\n`).join('')}`;
}

function readRecord(path: string): { readonly module: string; readonly line: string } {
  const text = readFileSync(path, 'utf8');
  const [, number, title] = /^# (\d{4})\. (.+)$/m.exec(text) ?? [];
  const [, module] = /^Module: (.+)$/m.exec(text) ?? [];
  if (number === undefined || title === undefined) throw new Error(`${path} has no title such as "# 0001. …"`);
  if (module === undefined) throw new Error(`${path} has no line such as "Module: files"`);
  return {
    module: `${module.charAt(0).toUpperCase()}${module.slice(1)}`,
    line: `* ${number} [${title}](${basename(path)})`,
  };
}
