import type { Outbound } from '../../platform/outbound.ts';

export interface Logo {
  readonly content: Buffer;
  readonly extension: 'svg' | 'png';
}

const mostLogoBytes = 64 * 1024;

/** Fetches the logo of a piece, so that the console shows it without calling others; null when the URL gives none. */
export async function fetchLogo(outbound: Outbound, url: string, signal: AbortSignal): Promise<Logo | null> {
  const policy = { hosts: 'any', schemes: new Set(['https'] as const), credentials: new Map(), inject: [] } as const;
  const bounds = { maxResponseBytes: mostLogoBytes, maxRedirects: 2, timeoutMs: 10_000 };
  const headers = { accept: 'image/svg+xml, image/png' };
  const result = await outbound.send({ method: 'GET', url, headers }, { ...policy, ...bounds }, signal);
  if (result.kind !== 'response' || result.status !== 200) return null;
  const { body: content } = result;
  if (content.subarray(1, 4).toString() === 'PNG') return { content, extension: 'png' };
  return /^\s*<(?:svg|\?xml)/.test(content.toString('latin1', 0, 200)) ? { content, extension: 'svg' } : null;
}
