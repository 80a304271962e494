import { Alert, Progress, Text } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { FactCards } from '../../components/fact-cards.tsx';
import { formatNumber, formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './embedding-state.module.css';

/** The vectors of a collection: their share, model and costs, what waits, and the last error. */
export function EmbeddingState({ embedding }: { embedding: NonNullable<Collection['embedding']> }) {
  const { t, code } = useLanguage();
  const { num_embedded: embedded, num_pending: pending, num_refused: refused, last_error: error } = embedding;
  const all = embedded + pending + refused;
  const percent = all === 0 ? 100 : Math.floor((embedded / all) * 100);
  const number = (value: number) => formatNumber(value, code);
  const dimensions =
    embedding.dimensions === null ? '' : ` · ${t('embedding.dimensions', { count: embedding.dimensions })}`;
  const facts = [
    {
      name: 'embedded',
      label: t('embedding.embedded'),
      text: t('embedding.share', { embedded: number(embedded), all: number(all), percent }),
    },
    { name: 'model', label: t('embedding.model'), text: `${embedding.model}${dimensions}` },
    { name: 'pending', label: t('embedding.pending'), text: number(pending) },
    { name: 'refused', label: t('embedding.refused'), text: number(refused) },
    { name: 'tokens', label: t('embedding.tokens'), text: number(embedding.num_tokens) },
  ];
  return (
    <details className={classes.state} data-embedding={percent} open={error !== null}>
      <summary>
        {t('embedding.title')} · {percent}%
        {pending > 0 ? (
          <Progress value={percent} size="sm" mt={6} aria-label={`${t('embedding.title')}: ${percent}%`} />
        ) : null}
      </summary>
      <FactCards facts={facts} />
      {error === null ? null : (
        <Alert color="orange" variant="light" icon={<Icon name="warning" />} title={t('embedding.lastError')} mt="sm">
          {error.reason}
          <Text size="xs">
            {formatTime(error.timestamp, code)}
            {error.next_attempt_timestamp === null
              ? ''
              : ` · ${t('embedding.nextAttempt', { time: formatTime(error.next_attempt_timestamp, code) })}`}
          </Text>
        </Alert>
      )}
    </details>
  );
}
