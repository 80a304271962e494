import type { LanguageCode } from '../language/language.tsx';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.4 MiB` */
export function formatBytes(bytes: number): string {
  const step = bytes <= 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${value >= 100 || step === 0 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

/** `12 ms`, `1.24 s` */
export function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

export function formatNumber(value: number, code: LanguageCode): string {
  return new Intl.NumberFormat(code, { maximumFractionDigits: value < 10 ? 2 : 0 }).format(value);
}

/** `12.3`, `0.00042` */
export function formatCost(value: number, code: LanguageCode): string {
  return new Intl.NumberFormat(code, { maximumSignificantDigits: value < 1 ? 2 : 4 }).format(value);
}

export function formatTime(milliseconds: number, code: LanguageCode): string {
  return new Intl.DateTimeFormat(code, { dateStyle: 'medium', timeStyle: 'short' }).format(milliseconds);
}

const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** `3 minutes ago`, `in 2 days` */
export function formatAge(milliseconds: number, code: LanguageCode): string {
  const difference = milliseconds - Date.now();
  const format = new Intl.RelativeTimeFormat(code, { numeric: 'auto' });
  const [unit, length] = steps.find(([, size]) => Math.abs(difference) >= size) ?? steps[3];
  return format.format(Math.trunc(difference / length), unit);
}
