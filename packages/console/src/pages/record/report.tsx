import { Text } from '@mantine/core';
import { useLanguage } from '../../language/language.tsx';
import { formatBytes, formatMs } from '../../pieces/format.ts';
import classes from './record.module.css';

type Facts = Readonly<Record<string, unknown>>;

/** What the reader said of the source: short facts as cards, warnings as sentences. */
export function Report({ report }: { report: Facts | null }) {
  const { t } = useLanguage();
  if (report === null) {
    return (
      <Text size="sm" c="dimmed">
        {t('records.noReport')}
      </Text>
    );
  }
  const { warnings, ...facts } = report;
  const sentences = Array.isArray(warnings) ? warnings.map(String) : [];
  return (
    <>
      <dl className={classes.facts}>
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd>{describe(name, value)}</dd>
          </div>
        ))}
      </dl>
      {sentences.length === 0 ? null : (
        <ul className={classes.warnings} aria-label={t('records.warnings')}>
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function describe(name: string, value: unknown): string {
  if (typeof value === 'number') {
    if (name.endsWith('_bytes')) return formatBytes(value);
    if (name === 'milliseconds') return formatMs(value);
    return value.toLocaleString();
  }
  if (value === null) return '–';
  if (Array.isArray(value)) return value.map((item) => describe('', item)).join('; ');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key.replaceAll('_', ' ')}: ${describe(key, inner)}`)
    .join(', ');
}
