import type { SetUpLink } from '../../access/administrator/set-up-link.ts';
import type { Secret } from '../../platform/secret.ts';

/** The information that people need to use a started service. */
export interface Started {
  readonly version: string;
  /** The preferred URL first; empty when this process does not serve that address. */
  readonly filesUrls: readonly string[];
  readonly pluginsUrls: readonly string[];
  /** Set until a request uses the key. */
  readonly firstKey: { readonly key: Secret; readonly file: string } | undefined;
  /** Set while there is no administrator. */
  readonly setUpLink: SetUpLink | undefined;
}

export interface TerminalOptions {
  /** The public URL of the console behind a proxy. */
  readonly publicFilesUrl: string | null;
  /** One sentence for each unencrypted connection. */
  readonly warnings: readonly string[];
}

/** Formats the start message for a terminal, with the first key, the setup link and the URL to open. */
export function formatBanner(started: Started, { publicFilesUrl, warnings }: TerminalOptions): string {
  const { firstKey, setUpLink } = started;
  const consoleUrl = started.filesUrls.length === 0 ? undefined : (publicFilesUrl ?? started.filesUrls[0]);
  const lines = [
    '',
    `Quartermaster ${started.version} is ready. Press Ctrl-C to stop it.`,
    '',
    ...addressLines(started),
  ];
  if (firstKey !== undefined) {
    lines.push(
      row('first API key', `${firstKey.key.reveal()}   (shown until its first use; also in ${firstKey.file})`),
    );
  }
  for (const warning of warnings) lines.push(row('warning', warning));
  if (setUpLink !== undefined) {
    lines.push(
      '',
      `  Open this link to create the console administrator (once, within an hour; also in ${setUpLink.file}):`,
      `  ${setUpLink.link.reveal()}`,
    );
  } else if (consoleUrl !== undefined) lines.push('', '  Open the console:', `  ${consoleUrl}`);
  return [...lines, ''].join('\n');
}

/**
 * Formats the start message for other outputs, which are often stored where others can read them. Secrets appear only as file
 * names.
 */
export function formatAddresses(started: Started): string {
  const { firstKey, setUpLink } = started;
  return [
    `Quartermaster ${started.version}`,
    ...addressLines(started),
    ...(firstKey === undefined ? [] : [row('first API key', `in ${firstKey.file}`)]),
    ...(setUpLink === undefined ? [] : [row('set up console', `link in ${setUpLink.file}`)]),
  ].join('\n');
}

function addressLines({ filesUrls, pluginsUrls }: Started): string[] {
  return [
    ...(filesUrls.length === 0 ? [] : [row('files address', `${filesUrls.join('  ')}   (API and console)`)]),
    ...(pluginsUrls.length === 0 ? [] : [row('plugins address', `${pluginsUrls.join('  ')}   (API and MCP)`)]),
  ];
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(17)}${text}`;
}
