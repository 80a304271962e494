import { Alert, Text } from '@mantine/core';
import { FactCards } from '../../components/fact-cards.tsx';
import { Icon } from '../../components/icons.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './record.module.css';
import { type Facts, factsOf } from './report-facts.ts';
import { reportWords } from './report-words.ts';

/** The parsing report: facts as cards, warnings as a list. */
export function Report({ report }: { report: Facts | null }) {
  const { t, code, explain } = useLanguage();
  if (report === null) {
    return (
      <Text size="sm" c="dimmed">
        {t('records.noReport')}
      </Text>
    );
  }
  const sentences = Array.isArray(report.warnings) ? report.warnings.map(String) : [];
  return (
    <>
      <FactCards facts={factsOf(report, { words: reportWords[code], explain })} />
      {sentences.length === 0 ? null : (
        <Alert color="orange" variant="light" icon={<Icon name="warning" />} title={t('records.warnings')} mt="md">
          <ul className={classes.warnings}>
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Alert>
      )}
    </>
  );
}
