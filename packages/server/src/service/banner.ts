import type { SetUpLink } from '../access/administrator/set-up-link.ts';
import type { Secret } from '../kernel/secret.ts';

/** What people need to use a started service. */
export interface Started {
  readonly version: string;
  /** The preferred URL first; empty when this process does not serve that address. */
  readonly filesUrls: readonly string[];
  readonly pluginsUrls: readonly string[];
  /** Only on a fresh installation. */
  readonly firstKey: { readonly key: Secret; readonly file: string } | undefined;
  /** As long as there is no administrator. */
  readonly setUpLink: SetUpLink | undefined;
}

export interface TerminalOptions {
  /** Where people reach the console through a proxy. */
  readonly publicFilesUrl: string | null;
  /** Connections that are not encrypted, one sentence each. */
  readonly warnings: readonly string[];
}

/** The lines for a terminal. They show the first key and the setup link, and the URL to open. */
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
    lines.push(row('first API key', `${firstKey.key.reveal()}   (shown once; also in ${firstKey.file})`));
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

/** The lines for anything else, which is often stored where other people read: secrets only by the name of their file. */
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
    ...(filesUrls.length === 0 ? [] : [row('files address', filesUrls.join('  '))]),
    ...(pluginsUrls.length === 0 ? [] : [row('plugins address', pluginsUrls.join('  '))]),
  ];
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(17)}${text}`;
}
