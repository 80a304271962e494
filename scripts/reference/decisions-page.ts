import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Renders `docs/decisions/README.md`: the decision records by number, with their titles. */
export function describeDecisions(): string {
  const rows = globSync('docs/decisions/[0-9]*.md')
    .sort()
    .map((path) => {
      const [, number, title] = /^# (\d{4})\. (.+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
      if (number === undefined || title === undefined) throw new Error(`${path} has no title such as "# 0001. …"`);
      return `| ${number} | [${title}](${basename(path)}) |`;
    });
  return `# Decision records

Generated from the records by \`npm run reference\`; do not edit. Each title is the decision. The status in a record names the record that
replaces it.

| Number | Decision |
|---|---|
${rows.join('\n')}
`;
}
